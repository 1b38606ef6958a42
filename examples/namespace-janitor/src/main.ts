/** The program: `node dist/main.js --help`. */
import { run, Setting, SettingCodec } from "effect-controller-manager/node"
import * as NamespaceJanitor from "./NamespaceJanitor.ts"

run({
  name: "namespace-janitor",
  version: "0.1.0",
  description: "Deletes namespaces when their time is over.",
  settings: {
    janitorInterval: Setting.make(SettingCodec.interval, {
      name: "janitor-interval",
      group: "tuning",
      description: "Time between two looks at all namespaces",
      default: "5m"
    })
  },
  controllers: ({ values }) => [
    {
      controller: NamespaceJanitor.make({ interval: values.janitorInterval }),
      byDefault: "on",
      summary: `deletes namespaces whose ${NamespaceJanitor.annotation} is over`
    }
  ]
})
