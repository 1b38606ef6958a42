import "./node20.polyfill.ts"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    setupFiles: [
      "test/support/seed.ts",
      // Every scenario of the controllers once more, under exactly the roles that are printed for them.
      ...(process.env["AUTHORIZATION"] === "RBAC" ? ["test/support/underRoles.ts"] : [])
    ],
    // On two cores the default would be one; process tests wait for things, so that two at once disturb each other little.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/main.ts", "src/index.ts", "src/node.ts", "src/testing.ts"],
      reporter: ["text-summary", "lcov"]
    }
  }
})
