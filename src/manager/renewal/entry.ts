/** The entry of the thread that renews leases, for programs whose own entry cannot serve as one. In the main thread it does nothing. */
import { parentPort, workerData } from "node:worker_threads"
import { role } from "./protocol.ts"
import { serve } from "./thread.ts"

if (workerData === role && parentPort !== null) serve(parentPort)
