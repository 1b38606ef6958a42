/** Waits until the kinds of CustomResourceDefinitions are served: the condition Established, and then a list of each served version that succeeds. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import type { Client } from "../../layers/KubeClient.ts"
import { CustomResourceDefinition, type Stored } from "../../manager/crds/Definitions.ts"
import { NotReached, type TestCluster } from "../TestCluster.ts"

const within = "30 seconds"

export const served = Effect.fnUntraced(function* (
  client: Client,
  { until }: TestCluster["Service"],
  applied: ReadonlyArray<KubeObject>
) {
  for (const { kind, metadata } of applied) {
    if (kind !== CustomResourceDefinition.kind) continue
    const { name } = metadata
    const definition = yield* until(CustomResourceDefinition, { name }, isEstablished, { within })
    for (const resource of definition === undefined ? [] : resourcesOf(definition)) {
      yield* client.list(resource, { limit: 1 }).pipe(
        Effect.retry({ while: ({ reason }) => reason._tag === "NotFound", schedule: Schedule.spaced("50 millis") }),
        Effect.timeoutOrElse({
          duration: within,
          orElse: () =>
            Effect.fail(
              new NotReached({ resource: CustomResourceDefinition, target: { name }, within, object: definition })
            )
        })
      )
    }
  }
})

const isEstablished = (definition: Stored | undefined): boolean =>
  definition?.status?.conditions?.some(({ status, type }) => type === "Established" && status === "True") === true

const resourcesOf = ({ spec: { group, names, scope, versions } }: Stored) =>
  versions
    .filter((version) => version.served)
    .map((version) =>
      Resource.metadataOnly(
        Resource.make()({ group, version: version.name, kind: names.kind, plural: names.plural, scope })
      )
    )
