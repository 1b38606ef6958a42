/**
 * For tests of controllers: the embedded API server in process, deterministic under `TestClock`, and scripts of bad luck. It
 * imports `effect` and nothing of any platform.
 */
export * as Api from "./layers/apiserver/Api.ts"
export { ApiServer } from "./layers/apiserver/ApiServer.ts"
export * as Faults from "./layers/apiserver/faults.ts"
