/**
 * For tests on a real API server: etcd and kube-apiserver of the folder that `KUBEBUILDER_ASSETS` names, with the services of `./testing`, so that one test
 * body runs on both. Needs Node and a POSIX shell.
 */
export { Envtest, type Failure, type Options, type Provides } from "./testing/envtest/Envtest.ts"
export { type ControlPlane, EnvtestError } from "./testing/envtest/ControlPlane.ts"
