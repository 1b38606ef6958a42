/**
 * Takes the pictures of docs/console.md: starts the built program (`npm run build`) with an embedded cluster, lets it work, and looks at its console
 * with Chromium. `node scripts/screenshots.mjs [folder]` writes to docs/console, or to the folder.
 */
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = process.argv[2] ?? join(root, "docs/console")
mkdirSync(folder, { recursive: true })

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

const program = spawn(
  process.execPath,
  [
    join(root, "dist/main.js"),
    "--cluster=embedded",
    "--leader-elect",
    "--console-bind-address=127.0.0.1:0",
    "--health-probe-bind-address=0",
    "--metrics-bind-address=0"
  ],
  { stdio: ["ignore", "pipe", "pipe"] }
)
let output = ""
const printed = new Promise((resolve, reject) => {
  const read = (chunk) => {
    output += chunk
    const address = /http:\S+\/console\/#token=\S+/.exec(output)?.[0]
    const kubeconfig = /--kubeconfig (\S+)/.exec(output)?.[1]
    if (address !== undefined && kubeconfig !== undefined) resolve({ address, kubeconfig })
  }
  program.stdout.on("data", read)
  program.stderr.on("data", read)
  program.on("exit", () => reject(new Error(`the program ended:\n${output.slice(-3000)}`)))
})

const views = [
  { name: "controllers", hash: "#/controllers" },
  { name: "object", hash: "#/objects/deployments.apps/default/shop" },
  { name: "queue", hash: "#/queue" },
  { name: "informers", hash: "#/informers" },
  { name: "leadership", hash: "#/leadership" },
  { name: "cluster", hash: "#/cluster" }
]

/** Small files: one pixel for each of the page's. */
const shots = [
  ...views.map((view) => ({ ...view, file: `${view.name}.png`, width: 1280, height: 760, colorScheme: "light" })),
  { ...views[0], file: "controllers-narrow.png", width: 390, height: 780, colorScheme: "dark" }
]

const chromiumPath = () => {
  for (const name of ["chromium", "chromium-browser"]) {
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim()
    } catch {
      // The next name.
    }
  }
  throw new Error("Chromium is missing: install Debian's package chromium")
}

try {
  const { address, kubeconfig } = await printed
  const kubectl = (...args) => execFileSync("kubectl", ["--kubeconfig", kubeconfig, ...args], { stdio: "inherit" })
  kubectl("create", "deployment", "shop", "--image=shop:1", "--replicas=24")
  kubectl("create", "deployment", "payments", "--image=payments:1", "--replicas=9")
  kubectl("create", "deployment", "search", "--image=search:1", "--replicas=14")
  kubectl("create", "job", "report", "--image=report")
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: process.getuid() === 0 ? ["--no-sandbox"] : []
  })
  const open = async ({ colorScheme, height, width }) => {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme })
    await page.goto(address)
    await page.waitForSelector("tbody tr")
    return page
  }
  const pages = new Map()
  for (const { colorScheme, height, width } of shots) {
    const key = `${colorScheme} ${width}`
    if (!pages.has(key)) pages.set(key, await open({ colorScheme, height, width }))
  }
  // The charts show some minutes of work.
  for (let round = 0; round < 12; round++) {
    await wait(6000)
    kubectl("scale", "deployment", "search", `--replicas=${8 + ((round * 5) % 13)}`)
    if (round % 4 === 3) kubectl("set", "image", "deployment/payments", `payments=payments:${round}`)
  }
  kubectl("set", "image", "deployment/shop", "shop=shop:2")
  // The cluster first: it shows the rollout.
  for (const { colorScheme, file, hash, width } of shots
    .toReversed()
    .sort((a, b) => Number(b.name === "cluster") - Number(a.name === "cluster"))) {
    const page = pages.get(`${colorScheme} ${width}`)
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    await wait(hash === "#/cluster" ? 300 : 1500)
    await page.screenshot({ path: join(folder, file) })
  }
  await browser.close()
} finally {
  program.removeAllListeners("exit")
  program.kill("SIGTERM")
}
