/** Creates one Job for each Backup, and records its name in the status. */
import { Access, Controller, Job, Owner, Patch } from "effect-controller-manager"
import * as Effect from "effect/Effect"
import { Backup, copyOf } from "./Backup.ts"

export const BackupController = Controller.make({
  name: "backup",
  for: Backup,
  access: [Access.create(Job), Access.patch(Backup, "status")],
  reconcileObject: (backup, { client }) =>
    Effect.gen(function* () {
      if (backup.status?.job !== undefined) return
      const { name, namespace = "" } = backup.metadata
      // The name follows from the Backup, so a second create finds the Job of the first.
      const job = `${name}-copy`
      yield* client
        .create(Job, {
          metadata: { name: job, namespace, ownerReferences: [Owner.reference(Backup, backup)] },
          spec: copyOf(backup.spec.volume)
        })
        .pipe(Effect.catchReason("ApiError", "AlreadyExists", () => Effect.void))
      yield* client.subresource("status").patch(Backup, { name, namespace }, Patch.merge({ status: { job } }))
    })
})
