/** A program without the services of its controllers does not compile. Checked by the type checker, never run. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Node } from "../../src/kube/resources.ts"
import * as Controller from "../../src/layers/Controller.ts"
import { Discovery } from "../../src/layers/Discovery.ts"
import * as Setting from "../../src/layers/Setting.ts"
import * as Codecs from "../../src/layers/setting/codecs.ts"
import { run } from "../../src/cli/program.ts"

class Database extends Context.Service<Database, { readonly url: string }>()("test/Database") {}

const needy = Controller.make({
  name: "needy",
  for: Node,
  reconcile: () => Effect.asVoid(Database)
})

const modest = Controller.make({ name: "modest", for: Node, reconcile: () => Effect.asVoid(Discovery) })

const database = Layer.succeed(Database, { url: "memory" })
const name = "program"

/** The services of every program need not be provided. */
export const withNothing = () => run({ name, controllers: [modest] })

export const withServices = () => run({ name, controllers: [needy, modest], services: database })

export const asEntries = () =>
  run({ name, controllers: [{ controller: needy, byDefault: "on", summary: "" }], services: database })

// @ts-expect-error the Database is not provided
export const withoutServices = () => run({ name, controllers: [needy] })

// @ts-expect-error the Database is not provided
export const inEntries = () => run({ name, controllers: [{ controller: needy, byDefault: "on", summary: "" }] })

// @ts-expect-error the Database is not provided
export const inFunctions = () => run({ name, controllers: () => [needy] })

// @ts-expect-error these are not its services
export const withOthers = () => run({ name, controllers: [needy], services: Layer.empty })

const size = Setting.make(Codecs.concurrency, { name: "size", group: "tuning", description: "", default: "1" })

/** The program's own settings have their types, beside those of every program. */
export const withSettings = () =>
  run({
    name,
    settings: { size },
    controllers: ({ values }) => {
      const own: number = values.size
      const common: boolean = values.dryRun
      // @ts-expect-error it is not declared
      const other: unknown = values.sizes
      return own > 1 && common && other !== undefined ? [] : [modest]
    }
  })
