/** The program: `node dist/main.js --help`. */
import { run } from "effect-controller-manager/node"
import { HelloController } from "./HelloController.ts"

run({ name: "hello-controller", version: "0.1.0", controllers: [HelloController] })
