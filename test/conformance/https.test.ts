/** The conformance suite on the embedded server, over HTTPS as foreign clients see it. */
import { overHttps } from "./backends.ts"
import { conformance } from "./conformance.ts"

conformance(overHttps)
