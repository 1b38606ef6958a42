/**
 * One run of the program on its embedded cluster, used by the scripts that try it on other versions of Node, in other runtimes and in the layout of the image:
 * it starts, responds to probes, rolls a Deployment out with kubectl, and stops at SIGTERM with exit code 0.
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import process from "node:process"
import { folder, run } from "../run.mjs"

/** A program that takes longer than this to reach the next step counts as hung. */
const stepTimeout = 60_000

export const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0

/** Windows has no signals: there SIGTERM ends the process at once. */
const hasSignals = process.platform !== "win32"

/** No servers on the default ports, because other programs may run on this machine. */
const ports = { CM_METRICS_BIND_ADDRESS: "0", CM_CONSOLE_BIND_ADDRESS: "0" }

/** Milliseconds since the start, and the output until a line that matches. */
const outputOf = (child, what) => {
  const began = Date.now()
  let output = ""
  let check = () => {}
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text
      check()
    })
  }
  const until = (pattern) =>
    new Promise((resolve, reject) => {
      const end = (why) => {
        clearTimeout(timer)
        check = () => {}
        reject(new Error(`${what} ${why} before ${pattern} was printed:\n${output}`))
      }
      const timer = setTimeout(() => end("took too long"), stepTimeout)
      child.once("exit", (code, signal) => end(`ended with ${code ?? signal}`))
      child.once("error", ({ message }) => end(`did not start (${message})`))
      check = () => {
        const match = pattern.exec(output)
        if (match === null) return
        clearTimeout(timer)
        check = () => {}
        resolve({ match, millis: Date.now() - began })
      }
      check()
    })
  return { until, all: () => output }
}

const respondsOk = async (address) => {
  const deadline = Date.now() + stepTimeout
  for (;;) {
    const response = await fetch(address)
    if (response.ok) return
    if (Date.now() > deadline) throw new Error(`${address} responds ${response.status}: ${await response.text()}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

const rollOut = (kubeconfig) => {
  const ask = (...args) => run("kubectl", ["--kubeconfig", kubeconfig, ...args], { timeout: stepTimeout })
  const nodes = ask("get", "nodes", "--no-headers").trim().split("\n")
  if (nodes.length !== 3 || !nodes.every((line) => / Ready /.test(line)))
    throw new Error(`kubectl get nodes does not print three nodes that are ready:\n${nodes.join("\n")}`)
  ask("create", "deployment", "tried", "--image=example.test/tried:1", "--replicas=3")
  ask("rollout", "status", "deployment", "tried", "--timeout=30s")
}

/**
 * Runs `command`, which starts the program on its embedded cluster, and returns the milliseconds until the kubeconfig was printed and from the signal to the end.
 * `env` is the whole environment of the program; `probes` the port of its probes.
 */
export const tryProgram = async ([command, ...args], { env = {}, probes, ...options } = {}) => {
  const own = folder("program")
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
    env: {
      ...(hasSignals ? { PATH: process.env.PATH } : process.env),
      HOME: own,
      TMPDIR: own,
      CM_ZAP_ENCODER: "console",
      CM_HEALTH_PROBE_BIND_ADDRESS: probes === undefined ? "0" : `127.0.0.1:${probes}`,
      ...ports,
      ...env
    }
  })
  const ended = once(child, "exit")
  const output = outputOf(child, [command, ...args].join(" "))
  try {
    const { match, millis: started } = await output.until(/ --kubeconfig (\S+)/)
    await output.until(/Starting Controller.*deployment/)
    if (probes !== undefined) {
      for (const path of ["livez", "readyz"]) await respondsOk(`http://127.0.0.1:${probes}/${path}`)
    }
    if (hasKubectl) rollOut(match[1])
    const signalled = Date.now()
    child.kill("SIGTERM")
    const timer = setTimeout(() => child.kill("SIGKILL"), stepTimeout)
    const [code, signal] = await ended
    clearTimeout(timer)
    if (code !== 0 && hasSignals)
      throw new Error(`it ended with ${code ?? signal} at SIGTERM instead of 0:\n${output.all()}`)
    return { started, stopped: Date.now() - signalled, output: output.all() }
  } finally {
    child.kill("SIGKILL")
  }
}
