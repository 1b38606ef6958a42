/** The program: `node dist/main.js --help`. */
import { run, Setting, SettingCodec } from "effect-controller-manager/node"
import * as MemcachedController from "./MemcachedController.ts"

run({
  name: "memcached-operator",
  version: "0.1.0",
  description: "Runs memcached servers.",
  settings: {
    memcachedImage: Setting.make(SettingCodec.text("image"), {
      name: "memcached-image",
      env: "MEMCACHED_IMAGE",
      group: "tuning",
      description: "What the servers run",
      default: "memcached:1.6-alpine"
    })
  },
  controllers: ({ values }) => [
    {
      controller: MemcachedController.make({ image: values.memcachedImage }),
      byDefault: "on",
      summary: "keeps a Deployment for each Memcached"
    }
  ]
})
