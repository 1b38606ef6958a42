/**
 * `npm run explore:mutants [-- --only <text>] [-- --concurrency <n>] [-- --every <n>]`: deletes each write, each requeue and each source of our smallest controllers and of
 * those that `create` scaffolds, forces each condition to both of its values, and explores each of these mutants in a process of its own: without
 * a specification, and with the check of convergence that a user would write. Prints the shares that are found, and each miss with its explanation of
 * `scripts/mutants/misses.json`. All results are in `reports/exploreMutants.json`.
 *
 * `--every <n>` tries only each n-th perturbation. `--list <file>` prints the mutants of one source file, and explores nothing.
 */
import { spawn } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import process from "node:process"
import { parseArgs } from "node:util"
import { rolldown } from "rolldown"
import { mutantsOf, reporting } from "./mutants/mutations.mjs"
import { folder, main, root } from "./run.mjs"

/** The first file exports the controller; the others are imported by it. `call` declares its exploration. */
const subjects = [
  {
    name: "Memcached",
    exploration: "memcached.ts",
    files: ["src/controllers/Memcached.ts", "src/controllers/memcached/plan.ts"],
    call: "subject(mutant.make())"
  },
  {
    name: "EcsBinding",
    exploration: "ecsBinding.ts",
    files: ["src/controllers/EcsBinding.ts"],
    call: "subject(mutant.make())"
  },
  {
    name: "Widget (create)",
    exploration: "widget.ts",
    files: ["templates/operator/src/WidgetController.ts"],
    imports: 'import { Widget } from "./templates/operator/src/Widget.ts"',
    call: "subject(mutant.WidgetController, Widget)"
  },
  {
    name: "Example (create controller)",
    exploration: "example.ts",
    files: ["templates/controller-custom/src/ExampleController.ts"],
    imports: 'import { Widget } from "./templates/operator/src/Widget.ts"',
    call: "subject(mutant.ExampleController, Widget, mutant.annotation)"
  }
]

const classes = ["write", "condition", "requeue", "source"]

/** A mutant that loops without end has failed; the others take a few minutes at most. */
const limitMillis = 900_000

/** The originals first, then all mutants; the key of a mutant does not change with the lines around it. */
const variantsOf = (subject) => {
  const seen = new Map()
  return [
    { subject, key: subject.name },
    ...subject.files.flatMap((file) =>
      mutantsOf(readFileSync(join(root, file), "utf8")).map((mutant) => {
        const change = `${file}: ${mutant.original} → ${mutant.replacement}`
        const count = (seen.get(change) ?? 0) + 1
        seen.set(change, count)
        return Object.assign(mutant, { subject, file, key: count === 1 ? change : `${change} (${count})` })
      })
    )
  ]
}

/** Each variant is an entry with copies of its subject's files; everything else is in chunks that all of them share. */
const copies = (variants) => {
  const entry = /^variant-(\d+)$/
  const mark = /\?variant-(\d+)$/
  return {
    name: "mutants",
    resolveId(source, importer) {
      if (entry.test(source)) return source
      const [copied, number] = mark.exec(source) ?? mark.exec(importer ?? "") ?? []
      const isEntry = entry.test(importer ?? "")
      if (!source.startsWith(".")) return undefined
      const path = isEntry ? join(root, source.replace(mark, "")) : resolve(dirname(importer), source)
      const isCopied = copied !== undefined && variants[number].subject.files.some((file) => join(root, file) === path)
      if (isCopied) return `${path}?variant-${number}`
      // A path of the template's other folder, as in the project that both are copied to.
      if (path === join(root, "templates/controller-custom/src/Widget.ts"))
        return join(root, "templates/operator/src/Widget.ts")
      return isEntry || copied !== undefined ? path : undefined
    },
    load(id) {
      const number = entry.exec(id)?.[1]
      if (number !== undefined) {
        const { call, exploration, files, imports = "" } = variants[number].subject
        return `${imports}
import { main } from "./test/explore/mutants/run.ts"
import { subject } from "./test/explore/mutants/${exploration}"
import * as mutant from "./${files[0]}?variant-${number}"
await main(${call})`
      }
      const copy = mark.exec(id)
      if (copy === null) return undefined
      const path = id.slice(0, copy.index)
      const { code, file } = variants[copy[1]]
      const original = readFileSync(path, "utf8")
      if (file === undefined)
        return {
          code: reporting(original, mutantsOf(original).filter(isReported), relative(root, path)),
          moduleType: "ts"
        }
      return { code: join(root, file) === path ? code : original, moduleType: "ts" }
    }
  }
}

/** Only a condition has a value that says whether forcing it makes a difference. */
const isReported = ({ value }) => value !== undefined

const bundle = async (variants, dir) => {
  const made = await rolldown({
    cwd: root,
    input: Object.fromEntries(variants.map((_, i) => [`variant-${i}`, `variant-${i}`])),
    platform: "node",
    logLevel: "silent",
    resolve: { alias: { "effect-controller-manager": join(root, "src/index.ts") } },
    plugins: [copies(variants)]
  })
  await made.write({ dir, format: "esm" })
  await made.close()
}

/** What the process of a variant prints. One that does not end in time is found by any exploration. */
const explored = (path, every) =>
  new Promise((done, fail) => {
    const child = spawn(process.execPath, [path, every], {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: limitMillis,
      killSignal: "SIGKILL"
    })
    let output = ""
    let errors = ""
    child.stdout.on("data", (data) => (output += data))
    child.stderr.on("data", (data) => (errors += data))
    child.on("close", (code) => {
      if (code === 0 && output !== "") return done(JSON.parse(output))
      if (code !== null)
        return fail(new Error(`a mutant cannot be explored: exit code ${code}: ${errors.slice(0, 400)}`))
      const found = { what: "it does not end", by: "" }
      done({ alone: found, checked: found, runs: 0, final: [] })
    })
  })

/** Calls it for each, a few at a time. */
const inParallel = async (all, concurrency, work) => {
  const results = []
  let next = 0
  const worker = async () => {
    while (next < all.length) {
      const i = next++
      results[i] = await work(all[i])
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return results
}

/** Whether the mutant can differ from the original in any run of the exploration of the original. */
const isReached = ({ end, file, start, value }, { seen }) =>
  value === undefined ||
  seen.some(([name, from, to, one]) => name === file && from === start && to === end && one !== String(value))

const exploreAll = async (variants, dir, { concurrency, every }) => {
  const pathOf = (variant) => join(dir, `variant-${variants.indexOf(variant)}.js`)
  const progress = ({ key }, { alone, checked, generated, runs }) =>
    process.stderr.write(
      `${key.slice(0, 140)}: ${verdictOf(alone)}, generated ${verdictOf(generated)}, with a check ${verdictOf(checked)}, ${runs} runs\n`
    )
  const isOriginal = ({ file }) => file === undefined
  const originals = new Map()
  await inParallel(variants.filter(isOriginal), concurrency, async (variant) => {
    const result = await explored(pathOf(variant), every)
    progress(variant, result)
    const found = result.alone ?? result.generated ?? result.checked
    if (found !== undefined) throw new Error(`${variant.key} fails without a change: ${found.what} (${found.by})`)
    originals.set(variant.subject, result)
  })
  return inParallel(
    variants.filter((variant) => !isOriginal(variant)),
    concurrency,
    async (variant) => {
      const { class: kind, file, key, line, subject } = variant
      const original = originals.get(subject)
      const reached = isReached(variant, original)
      const result = reached ? await explored(pathOf(variant), every) : { final: original.final, runs: 0 }
      progress(variant, result)
      const differs = differenceOf(original.final, result.final)
      return { subject: subject.name, class: kind, file, line, key, reached, ...result, final: undefined, differs }
    }
  )
}

/** The first object that only one of two final states has. */
const differenceOf = (a, b) => (b.find((one) => !a.includes(one)) ?? a.find((one) => !b.includes(one)))?.slice(0, 300)

const verdictOf = (found) => (found === undefined ? "missed" : `found${found.by === "" ? "" : ` by ${found.by}`}`)

const list = (file) => {
  for (const { code: _, start: __, ...mutant } of mutantsOf(readFileSync(file, "utf8")))
    process.stdout.write(`${JSON.stringify(mutant)}\n`)
}

const percent = (part, all) => `${part} (${Math.floor((100 * part) / all)} %)`

const tableOf = (mutants) => {
  const line = (title, rows) => {
    const count = (holds) => percent(rows.filter(holds).length, rows.length)
    return `| ${title} | ${rows.length} | ${count(({ alone }) => alone !== undefined)} | ${count(({ generated }) => generated !== undefined)} | ${count(({ checked }) => checked !== undefined)} | ${count(({ differs }) => differs !== undefined)} |`
  }
  const groups = subjects.flatMap(({ name }) =>
    classes.map((one) => [
      `${name} | ${one}`,
      mutants.filter((mutant) => mutant.subject === name && mutant.class === one)
    ])
  )
  return [
    "| Controller | Deleted or forced | Mutants | Found alone | By generated operations | Found with a check | Other final state undisturbed |",
    "|---|---|---|---|---|---|---|",
    ...groups.filter(([, rows]) => rows.length > 0).map(([title, rows]) => line(title, rows)),
    line("All | ", mutants)
  ].join("\n")
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      list: { type: "string" },
      only: { type: "string", default: "" },
      concurrency: { type: "string", default: "2" },
      every: { type: "string", default: "1" }
    }
  })
  if (values.list !== undefined) return list(values.list)
  const all = subjects.flatMap(variantsOf)
  const chosen = new Set(all.filter(({ file, key }) => file !== undefined && key.includes(values.only)))
  const variants = all.filter(
    (one) => chosen.has(one) || (one.file === undefined && [...chosen].some(({ subject }) => subject === one.subject))
  )
  const dir = folder("mutants")
  await bundle(variants, dir)
  const mutants = await exploreAll(variants, dir, { concurrency: Number(values.concurrency), every: values.every })
  const misses = JSON.parse(readFileSync(join(root, "scripts/mutants/misses.json"), "utf8"))
  mkdirSync(join(root, "reports"), { recursive: true })
  writeFileSync(join(root, "reports/exploreMutants.json"), JSON.stringify(mutants, undefined, 2))
  process.stdout.write(`${tableOf(mutants)}\n\n`)
  for (const { alone, checked, file, generated, key, line } of mutants) {
    if ((alone ?? generated) !== undefined && checked !== undefined) continue
    const by =
      (alone ?? generated) === undefined ? (checked === undefined ? "neither" : "only with a check") : "only alone"
    process.stdout.write(
      `${file}:${line} ${key.slice(file.length + 2)}: ${by}. ${misses[key] ?? "Not explained yet."}\n`
    )
  }
})
