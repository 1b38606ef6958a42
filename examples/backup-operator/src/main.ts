/** The program: `node dist/main.js --help`. */
import { run } from "effect-controller-manager/node"
import { BackupController } from "./BackupController.ts"

run({ name: "backup-operator", version: "0.1.0", controllers: [BackupController] })
