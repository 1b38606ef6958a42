/**
 * `npm run readme`: executes the README. `ts` blocks are type-checked against the built package, and those named `.test.ts` are run; `console` blocks are
 * executed, beside a running `npm start`, and must print what is shown; every command in an `sh` block is executed here or by .ci/run.
 * `--write` replaces the output shown by what is printed, for the HOME and TMPDIR of this process.
 */
import { execFile, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { blocksOf, commandsOf, differ, normal, sorted } from "./documents/blocks.mjs"
import { folder, main, root, run } from "./run.mjs"

const file = join(root, "README.md")
const write = process.argv.includes("--write")
const said = (line) => process.stdout.write(`${line}\n`)

/** A program that takes longer than this to reach the next step counts as hung. */
const stepTimeout = 60_000

/** Type-checks the `ts` blocks as files of a project that has the built package, and runs those that are tests. */
const typescript = (bodies) => {
  const path = folder("readme")
  // A folder of links: this project's packages, and among them this project itself, found by its name and exports.
  mkdirSync(join(path, "node_modules"))
  for (const name of readdirSync(join(root, "node_modules")).filter((name) => !name.startsWith("."))) {
    symlinkSync(join(root, "node_modules", name), join(path, "node_modules", name))
  }
  symlinkSync(root, join(path, "node_modules", "effect-controller-manager"))
  const names = bodies.map((body) => {
    const name = /^\/\/ (\S+\.ts)$/m.exec(body.split("\n")[0])?.[1]
    if (name === undefined) throw new Error(`a ts block has no name in its first line:\n${body}`)
    writeFileSync(join(path, name), body)
    return name
  })
  const { plugins: _, ...compilerOptions } = JSON.parse(
    readFileSync(join(root, "tsconfig.json"), "utf8")
  ).compilerOptions
  writeFileSync(join(path, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }))
  writeFileSync(join(path, "package.json"), JSON.stringify({ type: "module" }))
  copyFileSync(join(root, "node20.polyfill.ts"), join(path, "polyfill.ts"))
  writeFileSync(
    join(path, "vitest.config.mjs"),
    `import "./polyfill.ts"\nexport default { test: { include: ["*.test.ts"] } }\n`
  )
  run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json"], { cwd: path })
  said(`ts: ${names.join(", ")} type-check against the built package`)
  run(process.execPath, ["node_modules/vitest/vitest.mjs", "run"], { cwd: path })
  said(`ts: ${names.filter((name) => name.endsWith(".test.ts")).join(", ")} pass`)
}

/** A shell command in a process group of its own, as a terminal would start it. */
const start = (command, env) => {
  const child = spawn(`exec ${command}`, {
    cwd: root,
    env,
    shell: true,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"]
  })
  const group = -(child.pid ?? Number.NaN)
  const running = { output: "", child, ended: once(child, "exit") }
  const listeners = new Set()
  const append = (text) => {
    running.output += text
    for (const listener of listeners) listener()
  }
  child.stdout.setEncoding("utf8").on("data", append)
  child.stderr.setEncoding("utf8").on("data", append)
  /** Waits until the output fulfils a condition. */
  running.until = (what, holds) =>
    new Promise((resolve, reject) => {
      const end = (settle) => {
        clearTimeout(timer)
        listeners.delete(check)
        settle()
      }
      const fail = (why) => end(() => reject(new Error(`${command} ${why} before ${what}:\n${running.output}`)))
      const check = () => holds(running.output) && end(resolve)
      const timer = setTimeout(() => fail("took too long"), stepTimeout)
      listeners.add(check)
      child.once("exit", () => fail("ended"))
      check()
    })
  /** Ctrl-C: the signal goes to the whole group. */
  running.interrupt = async () => {
    process.kill(group, "SIGINT")
    const timer = setTimeout(() => process.kill(group, "SIGKILL"), stepTimeout)
    const [code, signal] = await running.ended
    clearTimeout(timer)
    if (code !== 0)
      throw new Error(`${command} ended with ${code ?? signal} on Ctrl-C instead of 0:\n${running.output}`)
    said(`${command}: Ctrl-C ends it with exit code 0`)
  }
  return running
}

const shell = (command, env) =>
  new Promise((resolve) => {
    execFile("sh", ["-c", command], { cwd: root, env, timeout: stepTimeout }, (error, stdout, stderr) =>
      resolve(error === null ? stdout : `${stdout}${stderr}`)
    )
  })

/** Repeats a command until it prints what is shown, because the cluster needs some time. */
const eventually = async (command, env, shown) => {
  const deadline = Date.now() + 15_000
  for (;;) {
    const printed = await shell(command, env)
    if (sorted(printed) === sorted(shown)) return
    if (Date.now() > deadline) throw differ(command, normal(shown), normal(printed))
  }
}

/** With `--write`: the output once the events have come twice, so that a count is shown. */
const settled = async (command, env) => {
  const deadline = Date.now() + 15_000
  for (;;) {
    const printed = (await shell(command, env)).trimEnd()
    if (Date.now() > deadline || !printed.includes("Events:") || printed.includes("(x2 ")) return printed
  }
}

const startedIn = (text) => [...text.matchAll(/Starting Controller.*\n?/g)].length

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0

/** Runs `npm start`, and while it runs the other commands shown; returns the README with the output there was. */
const consoles = async (text, blocks, env) => {
  const commands = blocks.flatMap(commandsOf)
  if (commands[0]?.command !== "npm start") throw new Error("the first console block is not npm start")
  const [first, ...others] = commands
  const program = start(first.command, env)
  let result = text
  /** The end of the last replacement: a command may be shown more than once. */
  let cursor = 0
  const replace = (command, output) => {
    const at = result.indexOf(`$ ${command}\n`, cursor) + command.length + 3
    cursor = at
    const end = Math.min(...["\n$ ", "\n```"].map((mark) => result.indexOf(mark, at - 1)).filter((index) => index >= 0))
    result = `${result.slice(0, at)}${output}${result.slice(Math.max(at - 1, end))}`
  }
  try {
    const shown = startedIn(first.output)
    await program.until(
      "its controllers started",
      (output) => startedIn(output) >= (write ? 1 : shown) && / --kubeconfig .*\n/.test(output)
    )
    // Their number is not known before: they start within a moment of each other. By then the pods were counted, too.
    if (write) await new Promise((resolve) => setTimeout(resolve, 12_000))
    const path = / --kubeconfig (\S+)/.exec(program.output)?.[1]
    if (path === undefined) throw new Error(`npm start did not say where its kubeconfig is:\n${program.output}`)
    if (write) replace(first.command, program.output.trim())
    else if (sorted(program.output) !== sorted(first.output))
      throw differ(first.command, normal(first.output), normal(program.output))
    said("console: npm start prints what is shown")
    for (const { command, output } of others) {
      if (command.startsWith("kubectl ") && !hasKubectl) {
        said(`console: skipped, because there is no kubectl here: ${command}`)
        continue
      }
      const real = command.replace(/--kubeconfig \S+/, `--kubeconfig ${path}`)
      const environment = { ...env, KUBECONFIG: path }
      if (write) replace(command, await settled(real, environment))
      else await eventually(real, environment, output)
      said(`console: prints what is shown: ${command}`)
    }
    if (write) result = result.replaceAll(/--kubeconfig \/\S*\/embedded-cluster-\S+/g, `--kubeconfig ${path}`)
    else await configured(path, env)
  } finally {
    if (program.child.exitCode === null) await program.interrupt()
  }
  return result
}

/** Runs the program on a cluster that a kubeconfig in the home directory names: the running one. */
const configured = async (path, env) => {
  mkdirSync(join(env.HOME, ".kube"), { recursive: true })
  copyFileSync(path, join(env.HOME, ".kube", "config"))
  // `npm start` runs beside it and uses the ports.
  const withoutServers = {
    CM_METRICS_BIND_ADDRESS: "0",
    CM_HEALTH_PROBE_BIND_ADDRESS: "0",
    CM_CONSOLE_BIND_ADDRESS: "0"
  }
  const program = start(onCluster, { ...env, ...withoutServers })
  await program.until("its controller started", (output) => output.includes("Starting Controller"))
  await program.interrupt()
}
const onCluster = "node dist/main.js --kubeconfig ~/.kube/config"

/** Every command of an `sh` block, and what executes it. */
const executed = {
  "npm ci && npm start": () => "npm ci by .ci/run, npm start here",
  "npm ci && npm test": () => {
    const ci = readFileSync(join(root, ".ci", "run"), "utf8")
    if (!/npm ci$/m.test(ci) || !/npm test$/m.test(ci)) throw new Error(".ci/run does not run npm ci and npm test")
    return "by .ci/run"
  },
  [onCluster]: () => "here"
}

/** The flags named between backticks are flags of the program. */
const flags = (text) => {
  const help = run(process.execPath, ["dist/main.js", "--help"])
  const named = [...new Set([...text.matchAll(/`(--[a-z-]+)/g)].map(([, flag]) => flag))]
  const unknown = named.filter((flag) => !new RegExp(`^ +${flag}\\b`, "m").test(help))
  if (unknown.length > 0) throw new Error(`the README names flags that --help does not know: ${unknown.join(", ")}`)
  said(`flags: ${named.join(", ")} are in --help`)
}

await main(async () => {
  const text = readFileSync(file, "utf8")
  const blocks = blocksOf(text)
  const of = (language) => blocks.filter((block) => block.language === language).map(({ body }) => body)
  for (const command of of("sh").flatMap((body) => body.trim().split("\n"))) {
    const who = executed[command]
    if (who === undefined) throw new Error(`the README has a command that nothing executes: ${command}`)
    said(`sh: ${command}: ${who()}`)
  }
  run("npm", ["run", "--silent", "build"])
  flags(text)
  typescript(of("ts"))
  const home = write ? process.env.HOME : folder("home")
  const { KUBECONFIG: _, ...env } = process.env
  const result = await consoles(text, of("console"), { ...env, HOME: home, npm_config_update_notifier: "false" })
  if (write) writeFileSync(file, result)
  said("readme: all well")
})
