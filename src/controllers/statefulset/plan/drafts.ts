/** The body of a replica: the template of its revision, with the name, labels and volumes that are its own. Source: spec G.8.1. */
import type { Draft } from "../../../kube/Meta.ts"
import { type Pod, StatefulSet } from "../../../kube/resources.ts"
import * as History from "../../shared/revisions/history.ts"
import * as PodControl from "../../shared/workload/podControl.ts"
import * as Identity from "../identity.ts"
import type { Revision } from "./look.ts"

/** A draft that says its name. */
export type PodDraft = Draft<Pod> & { readonly metadata: { readonly name: string } }

export const make = (set: StatefulSet, ordinal: number, { name: revision, template }: Revision): PodDraft => {
  const name = Identity.podName(set, ordinal)
  const { metadata, spec } = PodControl.draft(StatefulSet, set, template)
  const { serviceName = "" } = set.spec ?? {}
  const claims = Identity.volumes(set, ordinal)
  const others = spec?.volumes?.filter((volume) => !claims.some((claim) => claim.name === volume.name)) ?? []
  const volumes = [...claims, ...others]
  return {
    metadata: {
      ...metadata,
      name,
      ...(set.metadata.namespace === undefined ? {} : { namespace: set.metadata.namespace }),
      labels: { ...metadata.labels, ...Identity.labels(set, ordinal), [History.hashLabel]: revision }
    },
    spec: {
      ...(spec ?? { containers: [] }),
      hostname: name,
      ...(serviceName === "" ? {} : { subdomain: serviceName }),
      ...(volumes.length === 0 ? {} : { volumes })
    }
  }
}
