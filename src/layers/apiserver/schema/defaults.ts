/** Defaults of specs for the rows of `kinds.ts`; the work is in `defaults/`. */
export { pod } from "./defaults/pods.ts"
export { service } from "./defaults/services.ts"
export { secret } from "./defaults/table.ts"
export { deployment, replicaSet } from "./defaults/workloads.ts"
