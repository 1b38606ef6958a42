/**
 * What a declaration with Schemas makes of types: the wire form, the decoded form, the identity; and that declarations of built-in kinds
 * are what they were. Checked by `npm run typecheck`; this file never runs.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Resource from "../../src/kube/Resource.ts"
import type { Pod } from "../../src/kube/resources.ts"

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_ extends true>(): void => {}

const Widget = Resource.make({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  spec: Schema.Struct({
    size: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(1))),
    port: Schema.Union([Schema.Int, Schema.String])
  }),
  status: Schema.Struct({ ready: Schema.Boolean })
})

type Wire = Resource.Object<typeof Widget>
type Decoded = Resource.Decoded<typeof Widget>

// Defaults: the wire may lack the field, a decoded object has it.
holds<Equals<Wire["spec"], { readonly size?: number; readonly port: number | string }>>()
holds<Equals<Decoded["spec"], { readonly size: number; readonly port: number | string }>>()
holds<Equals<Decoded["status"], { readonly ready: boolean } | undefined>>()
holds<Equals<(typeof Widget)["id"], "example.com/v1/widgets">>()

// Wherever a resource is taken, this one is.
export const anyResource: Resource.Any = Widget
export const anyCustom: Resource.AnyCustom = Widget

// Built-in kinds have no form but the wire's.
holds<Equals<Resource.Decoded<typeof Pod>, Resource.Object<typeof Pod>>>()
holds<Equals<(typeof Pod)["id"], "v1/pods">>()

const decoded = Result.getOrThrow(Widget.decode({}))
export const size: number = decoded.spec.size
export const written = Widget.encode({ ...decoded, spec: { size: 2, port: "http" } })

// @ts-expect-error a field that the Schema does not have
export const unknownField = decoded.spec.colour

// @ts-expect-error what is written must be what the Schema says
export const wrong = Widget.encode({ ...decoded, spec: { size: "2", port: "http" } })

// @ts-expect-error a kind of one's own has a spec
export const specless = Resource.make({ group: "example.com", version: "v1", kind: "Widget", plural: "widgets" })

class Database extends Schema.Class<Database>("Database")({ name: Schema.String }) {}

const Plain = Resource.make({
  group: "example.com",
  version: "v1",
  kind: "Plain",
  plural: "plains",
  scope: "Cluster",
  spec: Database
})

holds<Equals<Resource.Decoded<typeof Plain>["spec"], Database>>()

// @ts-expect-error no status was declared
export const status = Result.getOrThrow(Plain.decode({})).status
