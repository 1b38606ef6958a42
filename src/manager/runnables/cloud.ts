/**
 * Where controllers that need a cloud provider run: in this program with the named provider, or in the cloud's own controller manager, and then not
 * here. Invalid combinations are errors before anything starts. Source: k8s.io/cloud-provider; `--cloud-provider=external`.
 */
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { CloudProvider } from "../../layers/CloudProvider.ts"
import * as Registry from "../registry.ts"
import { hint } from "../setting/nearest.ts"

/** Every node has a machine, so that nothing is deleted because its machine is missing. */
const memory = CloudProvider.layerMemory(() => ({}))

/** The cloud providers by name. */
const providers: Readonly<Record<string, Layer.Layer<CloudProvider>>> = { memory }

export interface Choice {
  readonly cloudLoops: "include" | "external"
  readonly cloudProvider: Option.Option<string>
}

/** The table without the controllers that cannot run here. */
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

/** The cloud provider for the controllers; unused if none of them needs one. */
export const layerOf = ({ cloudProvider }: Choice): Layer.Layer<CloudProvider> =>
  providers[Option.getOrElse(cloudProvider, () => "")] ?? memory

const fail = (message: string) => Result.fail(new Registry.RegistryError({ message }))
