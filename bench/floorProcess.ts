/** The same requests without a client, for `fleets.ts`, in a process of its own: it begins as cold as the program does. One line of JSON for each order. */
import { createInterface } from "node:readline"
import { type Access, type Plain, plainly } from "./plain.ts"

/** Pods of a namespace, one by one, with the names `pod-0` to `pod-<count - 1>`. */
export interface Order {
  readonly method: "POST" | "DELETE"
  readonly namespace: string
  readonly count: number
}

const access = JSON.parse(process.argv[2] ?? "{}") as Access

const requestOf =
  ({ method, namespace }: Order) =>
  (index: number): Plain => {
    const pods = `/api/v1/namespaces/${namespace}/pods`
    return method === "DELETE"
      ? { method, path: `${pods}/pod-${index}` }
      : { method, path: pods, body: pod(`pod-${index}`, namespace) }
  }

/** As a ReplicaSet of a Deployment writes it. */
const pod = (name: string, namespace: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace, labels: { app: "load", of: "load-0", "pod-template-hash": "5d9c7f8b6c" } },
  spec: { containers: [{ name: "main", image: "example.test/main:1" }] }
})

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order
  console.log(JSON.stringify(await plainly(access, order.count, requestOf(order))))
}
