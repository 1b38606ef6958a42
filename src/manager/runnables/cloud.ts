/**
 * Where controllers that need a cloud run: in this program, with the named provider, or in the cloud's own controller manager; then they
 * are not built. Invalid combinations are errors before anything starts. Source: k8s.io/cloud-provider; `--cloud-provider=external`.
 */
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { CloudProvider } from "../../layers/CloudProvider.ts"
import * as Registry from "../registry.ts"
import { hint } from "../setting/nearest.ts"

/** No node is ever without its machine, so that nothing is taken away for the lack of one. */
const memory = CloudProvider.layerMemory(() => ({}))

/** The clouds that can be named. */
const providers: Readonly<Record<string, Layer.Layer<CloudProvider>>> = { memory }

export interface Choice {
  readonly cloudLoops: "include" | "external"
  readonly cloudProvider: Option.Option<string>
}

/** The table as far as it may run here. */
export const among = <R>(
  table: ReadonlyArray<Registry.Entry<R>>,
  patterns: ReadonlyArray<string>,
  choice: Choice
): Result.Result<ReadonlyArray<Registry.Entry<R>>, Registry.RegistryError> => {
  const names = Object.keys(providers)
  const named = Option.getOrUndefined(choice.cloudProvider)
  if (named !== undefined && !Object.hasOwn(providers, named)) {
    return fail(`there is no cloud provider "${named}"${hint(named, names) || `; there is: ${names.join(", ")}`}`)
  }
  if (choice.cloudLoops === "include") {
    return named === undefined
      ? fail(`--cloud-loops=include needs a cloud: name one with --cloud-provider (${names.join(", ")})`)
      : Result.succeed(table)
  }
  const wrong = table.find((entry) => entry.controller.cloud === true && Registry.mentioned(entry, patterns) === true)
  return wrong === undefined
    ? Result.succeed(
        table.map((entry) => (entry.controller.cloud === true ? Object.assign({}, entry, { byDefault: "off" }) : entry))
      )
    : fail(`"${wrong.controller.name}" needs a cloud and runs only with --cloud-loops=include`)
}

/** The provider of the controllers that run here. Without any it is unused. */
export const layerOf = ({ cloudProvider }: Choice): Layer.Layer<CloudProvider> =>
  providers[Option.getOrElse(cloudProvider, () => "")] ?? memory

const fail = (message: string) => Result.fail(new Registry.RegistryError({ message }))
