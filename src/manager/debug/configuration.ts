/**
 * `/configz`: every setting with the value in force and who said it, by the name that the configuration file has for it. Pure. A
 * secret's text never gets here; what was changed while the program runs stands beside the settings. Source: framework.md K6.
 */
import type { Origin } from "../setting/sources.ts"

/** As `setting/sources.ts` resolves them. */
export type Effective = ReadonlyArray<{ readonly name: string; readonly text: string; readonly origin: Origin }>

export const render = (effective: Effective, now: { readonly logLevel: string }) => ({
  settings: Object.fromEntries(
    effective.map(({ name, origin, text }) => [name, { value: text, origin: said(origin) }])
  ),
  now
})

/** `flag --sync-period`, `environment CM_SYNC_PERIOD`, `file manager.yaml`, `default`. */
const said = (origin: Origin): string => {
  switch (origin._tag) {
    case "Flag":
      return `flag ${origin.name}`
    case "Environment":
      return `environment ${origin.name}`
    case "File":
      return `file ${origin.path}`
    case "Default":
      return "default"
  }
}
