/**
 * One of the processes: `HOST=127.0.0.1 PORT=34431 node dist/main.js`, where the others reach it at that address. `ShardingConfig` has the other settings, which
 * are read from the environment too.
 */
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cache, Endpoint, KubeClient } from "effect-controller-manager"
import { LeaseRunnerStorage } from "effect-controller-manager/cluster"
import { HttpTransport, KubeConfig } from "effect-controller-manager/node"
import * as Layer from "effect/Layer"
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SocketRunner from "effect/cluster/SocketRunner"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import process from "node:process"
import { CounterLive } from "./Counter.ts"
import { Reporter } from "./Reporter.ts"

/** The cluster of `KUBECONFIG`, or the one in which this runs as a pod. */
const kubernetes = Cache.layer().pipe(
  Layer.provideMerge(KubeClient.layer),
  Layer.provide(HttpTransport.layer),
  Layer.provide(Layer.effect(Endpoint, KubeConfig.load({ mode: "auto", env: process.env })))
)

const cluster = SocketRunner.layer.pipe(
  Layer.provide([NodeClusterSocket.layerSocketServer, NodeClusterSocket.layerClientProtocol]),
  Layer.provide([LeaseRunnerStorage.layer({ namespace: "default", name: "counters" }), MessageStorage.layerNoop]),
  Layer.provide([kubernetes, RpcSerialization.layerSchemaBinary()]),
  Layer.provideMerge(ShardingConfig.layerFromEnv())
)

NodeRuntime.runMain(Layer.launch(Layer.provide(Layer.mergeAll(CounterLive, Reporter), cluster)))
