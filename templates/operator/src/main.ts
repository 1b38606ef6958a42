/** The program: `node dist/main.js --help`. */
import { run } from "effect-controller-manager/node"
import { WidgetController } from "./WidgetController.ts"

run({
  name: "widget-operator",
  version: "0.1.0",
  description: "Keeps a ConfigMap for each Widget.",
  controllers: [{ controller: WidgetController, byDefault: "on", summary: "keeps the ConfigMap of each Widget" }]
})
