/** The program: `node dist/main.js --help`. */
import { configured } from "effect-controller-manager"
import { run } from "effect-controller-manager/node"
import * as NamespaceJanitor from "./NamespaceJanitor.ts"

run({
  name: "namespace-janitor",
  version: "0.1.0",
  description: "Deletes namespaces when their time is over.",
  controllers: [
    configured(NamespaceJanitor, {
      byDefault: "on",
      summary: `deletes namespaces whose ${NamespaceJanitor.annotation} is over`
    })
  ]
})
