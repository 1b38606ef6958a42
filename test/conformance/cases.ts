/** All cases, under headings of the API. */
import type { Case } from "./Case.ts"
import { absent } from "./cases/absent.ts"
import { absentOwned } from "./cases/absentOwned.ts"
import { admission } from "./cases/admission.ts"
import { authorization } from "./cases/authorization.ts"
import { badRequests } from "./cases/badRequests.ts"
import { beginning } from "./cases/bootstrap.ts"
import { created } from "./cases/created.ts"
import { customDefinitions } from "./cases/customDefinitions.ts"
import { conversions } from "./cases/conversions.ts"
import { customResources } from "./cases/customResources.ts"
import { defaults } from "./cases/defaults.ts"
import { deletion } from "./cases/deletion.ts"
import { discovery } from "./cases/discovery.ts"
import { errors } from "./cases/errors.ts"
import { evictions } from "./cases/evictions.ts"
import { identity } from "./cases/identity.ts"
import { jobStatus } from "./cases/jobStatus.ts"
import { kinds } from "./cases/kinds.ts"
import { legacyTokens } from "./cases/legacyTokens.ts"
import { lists } from "./cases/lists.ts"
import { owners } from "./cases/owners.ts"
import { patches } from "./cases/patches.ts"
import { patchDetails } from "./cases/patchDetails.ts"
import { quotas } from "./cases/quotas.ts"
import { resources } from "./cases/resources.ts"
import { schedules } from "./cases/schedules.ts"
import { security } from "./cases/security.ts"
import { views } from "./cases/representations.ts"
import { served } from "./cases/served.ts"
import { validation } from "./cases/validation.ts"
import { watches } from "./cases/watches.ts"
import { webhooks } from "./cases/webhooks.ts"
import { writes } from "./cases/writes.ts"

export const headings: Readonly<Record<string, ReadonlyArray<Case>>> = {
  Resources: [...beginning, ...served, ...kinds, ...resources],
  "Versions and watches": [...lists, ...watches],
  Writes: [
    ...writes,
    ...created,
    ...patches,
    ...patchDetails,
    ...defaults,
    ...absent,
    ...absentOwned,
    ...validation,
    ...jobStatus,
    ...schedules
  ],
  Deletion: [...deletion, ...evictions],
  Admission: [...admission, ...owners, ...quotas, ...webhooks],
  Views: views,
  Errors: [...errors, ...badRequests],
  "Discovery and OpenAPI": discovery,
  "Custom resources": [...customDefinitions, ...customResources, ...conversions],
  Security: [...security, ...identity, ...legacyTokens, ...authorization]
}
