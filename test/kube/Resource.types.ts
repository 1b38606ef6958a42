/**
 * The types of a kind declared with Schemas: the wire form, the decoded form, the id; and the types of built-in kinds. Checked by
 * `npm run typecheck`; this file never runs.
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

// A field with a default is optional on the wire and required when decoded.
holds<Equals<Wire["spec"], { readonly size?: number; readonly port: number | string }>>()
holds<Equals<Decoded["spec"], { readonly size: number; readonly port: number | string }>>()
holds<Equals<Decoded["status"], { readonly ready: boolean } | undefined>>()
holds<Equals<(typeof Widget)["id"], "example.com/v1/widgets">>()

// It is accepted wherever a resource is.
export const anyResource: Resource.Any = Widget
export const anyCustom: Resource.AnyCustom = Widget

// Built-in kinds have only the wire form.
holds<Equals<Resource.Decoded<typeof Pod>, Resource.Object<typeof Pod>>>()
holds<Equals<(typeof Pod)["id"], "v1/pods">>()

const decoded = Result.getOrThrow(Widget.decode({}))
export const size: number = decoded.spec.size
export const written = Widget.encode({ ...decoded, spec: { size: 2, port: "http" } })

// @ts-expect-error a field that the Schema does not have
export const unknownField = decoded.spec.colour

// @ts-expect-error an encoded object must fit the Schema
export const wrong = Widget.encode({ ...decoded, spec: { size: "2", port: "http" } })

// @ts-expect-error a custom kind has a spec
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
