/**
 * The skeleton of a controller (docs/design/controllers.md), as far as a program can check it: names and entries of parts, their places, their
 * least length, and the purity of what decides. It works on any map from path to source, so that each rule can be shown to catch a file that
 * breaks it.
 */
import { importsOf, resolve, type Violation } from "./architecture.ts"

/** What each standard part exports. */
const entries: Readonly<Record<string, ReadonlyArray<string>>> = {
  triggers: [],
  snapshot: ["take"],
  plan: ["plan"],
  apply: ["apply"],
  status: ["status"],
  events: [],
  metrics: ["families"],
  sync: ["sync"],
  deps: ["Deps", "access", "depsOf"],
  state: ["State", "make"]
}

/** A standard part with fewer lines stands in the file that uses it, if that is only one. */
const leastLines = 40

/** Names that say nothing about what a file holds. */
const vague = ["util", "utils", "helper", "helpers", "model", "common", "misc", "types"]

/** What pure files may import of Effect: data, and no runtime. */
const pureOfEffect = [
  "effect/Result",
  "effect/Option",
  "effect/Data",
  "effect/Duration",
  "effect/Schema",
  "effect/encoding/"
]

interface Part {
  /** `controllers/job/plan/plan.ts` is the part `plan` in the folder `job/plan`. */
  readonly controller: string
  readonly isInPlan: boolean
  readonly name: string
}

const partOf = (file: string): Part | undefined => {
  const [, controller = "", plan, name = ""] = /^controllers\/([a-z]+)\/(plan\/)?(\w+)\.ts$/.exec(file) ?? []
  return controller === "" || controller === "shared" ? undefined : { controller, isInPlan: plan !== undefined, name }
}

const isDeclaration = (file: string): boolean => /^controllers\/[A-Z]\w*\.ts$/.test(file)

const isPureRoot = ({ isInPlan, name }: Part): boolean =>
  isInPlan || name === "snapshot" || name === "plan" || name === "status"

/** Paths are relative to `src`. */
export const checkSkeleton = (files: ReadonlyMap<string, string>): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  const importers = importersOf(files)
  for (const [file, source] of files) {
    const add = (rule: string, what: string): void => void found.push({ rule, file, what })
    if (isDeclaration(file)) checkDeclaration(files, file, source, add)
    const part = partOf(file)
    if (part === undefined) continue
    const { controller, isInPlan, name } = part
    if (!Array.from(files.keys()).some((other) => isDeclaration(other) && nameOf(other) === controller))
      add("a folder has the name of its declaration", controller)
    if (vague.includes(name)) add("a file is named after the rule or the thing it holds", name)
    if (
      isInPlan ? Object.hasOwn(entries, name) && name !== "plan" : name === "plan" && hasPlanFolder(files, controller)
    )
      add("plan/ holds plan.ts and its rules", name)
    if (isInPlan && !files.has(`controllers/${controller}/plan/plan.ts`)) add("plan/ holds plan.ts and its rules", name)
    for (const entry of entries[name] ?? [])
      if (!new RegExp(`^export (?:const|interface|type|class) ${entry}\\b`, "m").test(source))
        add("a standard part has its entry", entry)
    if (Object.hasOwn(entries, name) && lines(source) < leastLines && (importers.get(file)?.size ?? 0) < 2)
      add("a short part stands in the file that uses it", `${lines(source)} lines`)
    if (isPureRoot(part)) for (const what of impureImports(files, file)) add("snapshot, plan and status are pure", what)
  }
  return found
}

const lines = (source: string): number => source.split("\n").length - 1

const nameOf = (declaration: string): string => declaration.slice("controllers/".length, -".ts".length).toLowerCase()

const hasPlanFolder = (files: ReadonlyMap<string, string>, controller: string): boolean =>
  Array.from(files.keys()).some((file) => file.startsWith(`controllers/${controller}/plan/`))

const checkDeclaration = (
  files: ReadonlyMap<string, string>,
  file: string,
  source: string,
  add: (rule: string, what: string) => void
): void => {
  const all = source.split("\n")
  const make = all.findIndex((line) => line.startsWith("export const make"))
  const isStateful = /\bController\.stateful\(/.test(source)
  if (isStateful && all[make - 1]?.startsWith("// ") !== true)
    add("a line above make says why it is stateful", "no line")
  if (/\baccess: \[/.test(source)) add("access stands above make, or in deps.ts", "inside make")
  const access = all.findIndex((line) => line.startsWith("const access = "))
  if (access > make) add("access stands above make, or in deps.ts", "below make")
  if (access !== -1 && files.has(`controllers/${nameOf(file)}/deps.ts`))
    add("access stands above make, or in deps.ts", "not in deps.ts")
}

const importersOf = (files: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlySet<string>> => {
  const importers = new Map<string, Set<string>>()
  for (const [file, source] of files)
    for (const { specifier } of importsOf(source)) {
      if (!specifier.startsWith(".")) continue
      const target = resolve(file, specifier)
      importers.set(target, (importers.get(target) ?? new Set()).add(file))
    }
  return importers
}

/** What the file, or a file of the controllers that it reaches, imports besides data and vocabulary. Types of other modules are data. */
const impureImports = (files: ReadonlyMap<string, string>, root: string): ReadonlyArray<string> => {
  const seen = new Set([root])
  const found: Array<string> = []
  for (const file of seen)
    for (const { specifier, typeOnly } of importsOf(files.get(file) ?? "")) {
      const target = specifier.startsWith(".") ? resolve(file, specifier) : specifier
      if (target.startsWith("controllers/")) {
        // The definition of a kind is data, as those in kube/ are.
        if (!typeOnly && !target.endsWith("/kind.ts")) seen.add(target)
      } else if (
        target.startsWith("effect/")
          ? !pureOfEffect.some((pure) => target.startsWith(pure))
          : !target.startsWith("kube/") && !typeOnly
      )
        found.push(file === root ? target : `${target} by ${file}`)
    }
  return found
}
