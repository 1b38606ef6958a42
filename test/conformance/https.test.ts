/** The conformance suite on the embedded server over HTTPS, as an external client. */
import { overHttps } from "./backends.ts"
import { conformance } from "./conformance.ts"

conformance(overHttps)
