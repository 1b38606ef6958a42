/**
 * `npm run guide`: executes docs/writing-a-controller.md as a reader would: in an empty folder, in one terminal, block by block. A block whose first line
 * names a file is written to that file; `sh` blocks are executed and must succeed; `console` blocks are executed and must print what is
 * shown. The package is installed from this project's tarball. `--write` replaces what is shown by what is printed.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import process from "node:process"
import { blocksOf, commandsOf, differ, normal, sorted } from "./documents/blocks.mjs"
import * as Terminal from "./documents/Terminal.mjs"
import { folder, main, root, run } from "./run.mjs"

const file = join(root, "docs/writing-a-controller.md")
const write = process.argv.includes("--write")
const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0
const started = Date.now()
const said = (line) =>
  process.stdout.write(`${String(Math.round((Date.now() - started) / 1000)).padStart(3)} s  ${line}\n`)

const pack = () => {
  const destination = folder("packed")
  run("npm", ["run", "--silent", "build"])
  const [{ filename }] = JSON.parse(
    run("npm", ["pack", "--json", "--ignore-scripts", "--silent", "--pack-destination", destination])
  )
  return join(destination, filename)
}

/** The file of a block: `// src/main.ts`, `# sample.yaml`. */
const pathOf = (body) => /^(?:\/\/|#) (\S+\.\w+)$/.exec(body.split("\n")[0])?.[1]

/** The commands of an `sh` block; a backslash continues one. */
const linesOf = (body) =>
  body
    .replace(/\\\n\s*/g, "")
    .trim()
    .split("\n")

const isKubectl = (command) => /^kubectl\b/.test(command)
const asks = (command) => /^kubectl (get|describe|explain)\b/.test(command)

const execute = async (terminal, command) => {
  if (isKubectl(command) && !hasKubectl) return said(`skipped, because there is no kubectl here: ${command}`)
  const { code, stderr, stdout } = await terminal.run(command)
  if (code !== 0) throw new Error(`"${command}" ended with exit code ${code}:\n${stdout}${stderr}`)
  return said(command)
}

/** Repeats a read command until it prints what is shown, because the cluster needs some time. */
const answer = async (terminal, { command, output: shown }) => {
  const deadline = Date.now() + 20_000
  for (;;) {
    const { code, stderr, stdout } = await terminal.run(command)
    // When a command succeeds, its standard error is only for logs. When it fails, its standard error is the answer.
    const output = code === 0 ? stdout : `${stdout}${stderr}`
    if (sorted(output) === sorted(shown)) return output
    if (!asks(command) || Date.now() > deadline) {
      if (write) return output
      throw differ(command, normal(shown), normal(output))
    }
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

/** Executes a `console` block; returns it with the printed output. */
const show = async (terminal, body) => {
  const parts = []
  for (const one of commandsOf(body)) {
    const isSkipped = isKubectl(one.command) && !hasKubectl
    const output = isSkipped ? one.output : await answer(terminal, one)
    said(
      isSkipped ? `skipped, because there is no kubectl here: ${one.command}` : `prints what is shown: ${one.command}`
    )
    parts.push(`$ ${one.command}\n${output.trim()}`.trimEnd())
  }
  return `${parts.join("\n")}\n`
}

await main(async () => {
  const tarball = pack()
  said("packed")
  let text = readFileSync(file, "utf8")
  const work = folder("guide")
  const { KUBECONFIG: _, ...env } = process.env
  // Other programs may use these ports.
  const withoutServers = {
    CM_METRICS_BIND_ADDRESS: "0",
    CM_HEALTH_PROBE_BIND_ADDRESS: "0",
    CM_CONSOLE_BIND_ADDRESS: "0"
  }
  // A home directory without a kubeconfig; npm keeps its own settings and its cache.
  const kept = (name) => run("npm", ["config", "get", name]).trim()
  const npm = {
    npm_config_cache: kept("cache"),
    npm_config_userconfig: kept("userconfig"),
    npm_config_update_notifier: "false"
  }
  const terminal = Terminal.open(work, { ...env, ...withoutServers, ...npm, HOME: folder("home") })
  try {
    for (const { body, language } of blocksOf(text)) {
      const path = pathOf(body)
      if (path !== undefined) {
        const target = join((await terminal.run("pwd")).stdout.trim(), path)
        mkdirSync(dirname(target), { recursive: true })
        writeFileSync(target, body)
        said(`wrote ${path}`)
      } else if (language === "sh") {
        for (const line of linesOf(body)) {
          await execute(terminal, line.replace(/(?<=^npm install .*)\beffect-controller-manager\b/, tarball))
        }
      } else if (language === "console") {
        const printed = await show(terminal, body)
        if (write) text = text.replace(body, () => printed)
      } else throw new Error(`no rule executes this block:\n${body}`)
    }
  } finally {
    await terminal.close()
  }
  if (write) writeFileSync(file, text)
  said("guide: all well")
})
