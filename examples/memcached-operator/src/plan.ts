/** The desired Deployment and the status of a Memcached. Pure. */
import { Conditions, type Deployment, Owner, type Resource } from "effect-controller-manager"
import { Memcached } from "./Memcached.ts"

type Object = Resource.Decoded<typeof Memcached>

export const deploymentFor = (memcached: Object, image: string) => {
  const { name, namespace } = memcached.metadata
  const labels = { "app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": name }
  const { containerPort, size } = memcached.spec
  return {
    metadata: { name, namespace, labels, ownerReferences: [Owner.reference(Memcached, memcached)] },
    spec: {
      replicas: size,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
          containers: [
            {
              name: "memcached",
              image,
              command: ["memcached", "--memory-limit=64", "-o", "modern", "-v", `--port=${containerPort}`],
              ports: [{ name: "memcached", containerPort }],
              securityContext: { runAsUser: 1001, allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } }
            }
          ]
        }
      }
    }
  }
}

/** Returns the same status if nothing has changed. `now`: milliseconds since 1970. */
export const statusOf = (memcached: Object, deployment: Deployment | undefined, now: number) => {
  const { size } = memcached.spec
  const availableServers = deployment?.status?.availableReplicas ?? 0
  const before = memcached.status
  const conditions = Conditions.set(
    before?.conditions,
    {
      type: "Available",
      status: availableServers >= size,
      reason: availableServers >= size ? "AllAnswer" : "Reconciling",
      message: `${availableServers} of ${size} servers answer`,
      observedGeneration: memcached.metadata.generation
    },
    now
  )
  return before?.availableServers === availableServers && before.conditions === conditions
    ? before
    : { availableServers, conditions }
}
