/** StatefulSets whose pods mount their claim templates: the pod template is not validated. */
import { container, podSpec, statefulSet, template } from "./validationCase.ts"

const mounts = [{ name: "data", mountPath: "/data" }]
const claim = { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } }

export const replicaCases = [
  statefulSet("mounts of claims", {
    template: template({ containers: [container({ volumeMounts: mounts })] }),
    volumeClaimTemplates: [claim]
  }),
  statefulSet("mounts of nothing", { template: template({ containers: [container({ volumeMounts: mounts })] }) }),
  statefulSet("pods of nothing", { template: template(podSpec({ containers: [] })) })
]
