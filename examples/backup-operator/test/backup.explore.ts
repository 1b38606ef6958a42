import { Job } from "effect-controller-manager"
import { explore, Invariants } from "effect-controller-manager/testing"
import { BackupController } from "../src/BackupController.ts"

export const backup = explore("backup", {
  controllers: [BackupController],
  scenario: (cluster) =>
    cluster.apply(`
      apiVersion: backups.example.com/v1
      kind: Backup
      metadata: { name: nightly, namespace: default }
      spec: { volume: orders }
    `),
  invariants: [Invariants.neverMoreThan(1, Job)]
})
