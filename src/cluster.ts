/** For applications of Effect Cluster: its storage of runners and shards on Leases of a Kubernetes cluster. It is an entry of its own because it loads Effect Cluster. */
export * as LeaseRunnerStorage from "./manager/shards/LeaseRunnerStorage.ts"
