/**
 * The platform's edge: connecting to real clusters over HTTPS with a kubeconfig or from a pod, the embedded cluster behind
 * HTTPS, and the program itself. Needs Node; everything else of the library is in `effect-controller-manager`.
 */
export { EmbeddedCluster, EmbeddedClusterError } from "./apiserver/server/EmbeddedCluster.ts"
export * as HttpTransport from "./platform/HttpTransport.ts"
export * as KubeConfig from "./platform/KubeConfig.ts"

export type { Host } from "./manager/process/Host.ts"
export { InvalidProgram, type KindEntry, type Member, type Options as ProgramOptions } from "./manager/Program.ts"
export { run } from "./cli/program.ts"
