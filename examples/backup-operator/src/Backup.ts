/** The kind Backup: a copy of a volume, made once by a Job. */
import { Resource } from "effect-controller-manager"
import * as Schema from "effect/Schema"

export const Backup = Resource.make({
  group: "backups.example.com",
  version: "v1",
  kind: "Backup",
  plural: "backups",
  scope: "Namespaced",
  subresources: { status: true },
  spec: Schema.Struct({ volume: Schema.String }),
  status: Schema.Struct({ job: Schema.optionalKey(Schema.String) })
})

/** The spec of a Job that copies a volume. */
export const copyOf = (volume: string) => ({
  template: {
    spec: {
      restartPolicy: "Never",
      containers: [{ name: "copy", image: "registry.example.com/copy:1" }],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: volume } }]
    }
  }
})
