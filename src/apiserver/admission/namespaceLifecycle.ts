/** Namespaces are there before what is in them, and after. Source: the NamespaceLifecycle plugin of the reference server. */
import { textAt } from "../json.ts"
import * as lifecycle from "../validation/lifecycle.ts"
import type { Plugin } from "./Admission.ts"

export const namespaceLifecycle: Plugin = {
  name: "NamespaceLifecycle",
  admit: ({ before, object, target, context }) => {
    if (before === undefined) lifecycle.admitNamespace(context, target, textAt(object, "metadata", "name"))
  },
  remove: ({ name, target: { kind } }) => lifecycle.refuseImmortal(kind, name)
}
