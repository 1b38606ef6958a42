/** The features of controller-runtime that an operator needs first: manager, client, cache and informers. */
import { none, row, type Rows } from "./row.ts"

export const controllerRuntime: Rows = {
  "2.1 layers": row("parts of a manager are layers", {
    "testing/ClusterTest.test.ts":
      "apply stores every document, run starts the controller, and settle waits for its reconciles",
    "layers/Controller.types.ts": "needsServices"
  }),
  "2.1 election": row("off by default; its lease, labels, durations", {
    "scenario/coreLease.test.ts": [
      "are off by default, without an election",
      "have a lease of their own with --leader-elect, and so have our own controllers"
    ],
    "leader/embedded.test.ts": "a lease passes from one candidate to the next",
    "scenario/badInput.test.ts": "a wrong command line ends the program before it looks for a cluster"
  }),
  "2.1 release": row("the lease is released when all work has ended", {
    "leader/Election.test.ts": "waits until the work of the term has ended, and renews meanwhile",
    "scenario/stopUnderLoad.test.ts": "exits 0, hands over within one jittered retry, and leaves no write half done"
  }),
  "2.1 durations": row("lease > renew > 1.2 × retry", {
    "leader/Election.test.ts": "durations that contradict each other are rejected in one sentence",
    "scenario/badInput.test.ts": "a wrong command line ends the program before it looks for a cluster"
  }),
  "2.1 listeners": row("metrics, probes, profiles: a busy port fails before anything starts", {
    "scenario/servers.test.ts": "an address in use is reported in one line, with exit code 1",
    "manager/servers.test.ts":
      "an address in use ends the start if a setting names it, and is skipped if it is a default",
    "scenario/endpoints.test.ts": "are those of V8, taken one at a time, and end with the program"
  }),
  "2.1 stop": row("the time limit of a stop; none and unlimited", {
    "scenario/startStop.test.ts": [
      "is abandoned after --graceful-shutdown-timeout, with code 1 and one line",
      "interrupts it at once with ${flag}, without a message"
    ],
    "layers/Shutdown.test.ts": [
      "without a limit waits until all runs have finished",
      "interrupts runs at once when the Lease is lost, gives nothing up, and releases no Lease"
    ]
  }),
  "2.1 loops": row("defaults of loops, and what overrides them", {
    "layers/controller/defaults.test.ts": [
      "keys at once: ${title}",
      "run timeout: ${title}",
      "a defect ${title}",
      "keys of the first list wait for keys of changes: ${prioritizes}"
    ],
    "manager/configured.test.ts":
      "the concurrency comes from the controller's flag, its kind, the setting for all, or its default, in this order"
  }),
  "2.1 additions": row("a program's own checks and pages; none may take the path of the metrics", {
    "manager/servers.test.ts": [
      "one path has one handler: a further handler replaces neither the metrics nor a page",
      "further pages are behind the authorization and do not change the metrics"
    ],
    "manager/probes/handle.test.ts": "run the registered checks in the order of their names"
  }),
  "2.2 start": row("the order: servers, caches, controllers without a lease, election, controllers with one", {
    "manager/startOrder.test.ts":
      "contacts the server, syncs the kinds, acquires the lease, builds the controllers, and then reconciles",
    "manager/Manager.test.ts": [
      "a lost lease ends the manager, and the controllers get the reason",
      "a standby syncs its caches before it leads, and sends no list when it begins to lead"
    ],
    "scenario/servers.test.ts": "live at once, ready when all has synced, every series exists; closed at the end"
  }),
  "2.2 stop": row("the order of a stop: work, lease, events, caches, servers, within one time limit", {
    "layers/Shutdown.test.ts": [
      "takes no key, lets runs finish, releases the Lease, sends events, closes watches, then servers",
      "interrupts runs that do not finish in time, names them, and releases the Lease"
    ],
    "scenario/stopAnywhere.test.ts": [
      "releases the lease, then sends the events, then closes the watches, and serves probes in the meantime",
      "while another replica leads: nothing is written"
    ]
  }),
  "2.2 lost": row("a lost lease ends the process at once; a stop does not count as a loss", {
    "scenario/election.test.ts":
      "one of three writes; another takes over when it stops and when it is killed, and none when another holder takes the lease",
    "scenario/stopAnywhere.test.ts": "while it contends again for a lost lease: no error, and the new holder keeps it"
  }),
  "2.2 in flight": row("drain or interrupt", {
    "layers/Controller.test.ts": [
      "when the scope closes, a run in flight finishes",
      "a loss of leadership interrupts a run in flight at once"
    ],
    "layers/Shutdown.test.ts":
      "with ${JSON.stringify(stop)} interrupts runs, releases the Lease, sends events, and gives nothing up"
  }),
  "2.3 reads": row("cached reads: by key, namespace, labels, index; live ones in pages", {
    "layers/Cache.test.ts": [
      "a list selects objects by namespace and labels",
      "an index may be added after the sync; a read by an undeclared index fails with its name",
      "each selection and projection has an informer of its own"
    ],
    "layers/KubeClient.test.ts": "list reads all pages of 500 objects and sends the version only with the first request"
  }),
  "2.3 writes": row("every verb, every option, always live", {
    "layers/KubeClient.test.ts": [
      "each verb has its method, path, query, headers and body",
      "a request whose path would be that of another endpoint fails and is not sent"
    ]
  }),
  "2.3 metadata": row("metadata alone can be read and not written", {
    "layers/KubeClient.test.ts": [
      "metadata projections request metadata and return objects of the real kind",
      "a request whose path would be that of another endpoint fails and is not sent"
    ]
  }),
  "2.3 read your writes": row(
    "a key waits until the cache shows its own writes, with a limit, and the wait is measured",
    {
      "layers/Controller.test.ts": [
        "case 14: a key waits without a worker until the cache contains its last write",
        "case 14: the wait of a key for its own write ends after 5 s without the event"
      ],
      "layers/cache/VersionWaits.test.ts": "calls back once, when the last of the informers has passed the version",
      "layers/cache/metrics.test.ts": "count relists by reason and waits by duration, from zero",
      "layers/CacheNamespaces.test.ts": "a wait for a version ends at once"
    }
  ),
  "2.3 errors": row("one error with reasons; Retry-After is kept", {
    "layers/callPolicy.test.ts": [
      "each transient failure is retried, no other",
      "Retry-After is a lower bound of the wait, up to thirty seconds"
    ],
    "platform/HttpTransport.test.ts": "fails with the reason the server gave, its Retry-After, and without any secret"
  }),
  "2.4 resync": row("resyncs without requests", {
    "layers/CacheNamespaces.test.ts": "distributes every object as an update that changes nothing, without a request",
    "layers/controller/resync.test.ts": [
      "reconciles all objects again, and first those that have changed meanwhile",
      "reconciles nothing when its predicate accepts changes only"
    ]
  }),
  "2.4 undeclared": row("reads of kinds that are not declared fail, and start no informer", {
    "layers/Cache.test.ts": "a read without a subscription fails with what to declare, and sends no request"
  }),
  "2.4 namespaces": row("an informer for each namespace, presented as one", {
    "layers/CacheNamespaces.test.ts": [
      "shows the namespaces of the list as one store; one that does not exist is empty",
      "a kind syncs when each of its namespaces has been read, and the status shows which is missing"
    ],
    "layers/cache/namespaces.test.ts":
      "holds the objects that a cache of all namespaces holds, and shows each namespace in all kinds at once"
  }),
  "2.4 selections": row("a subscription has its own namespace, labels and fields", {
    "layers/Cache.test.ts": "each selection and projection has an informer of its own",
    "layers/CacheEmbedded.test.ts":
      "an object that no longer matches is deleted, and the wait for the write ends before the limit"
  }),
  "2.4 defaults by kind": row("selectors, transforms and resyncs for all kinds and for one, the more specific first", {
    "layers/cache/kinds.test.ts": [
      "the more specific selector is used, and an empty one selects all",
      "sends the selectors of a kind, stores transformed objects, and finds the informer for a read",
      "resyncs the kinds with a resync period, and no others"
    ]
  }),
  "2.4 defaults by namespace": none(
    "selectors and transforms of one namespace, namespaces of one kind, bookmarks that are off, a handler for errors of watches",
    "A subscription names its own namespace and selection; bookmarks cost nothing, and errors of watches are status, metrics and probes."
  ),
  "2.4 managedFields": row("are left out", {
    "layers/Cache.test.ts": "objects are trimmed, have their kind and, if so configured, are frozen",
    "streams/watch/trim.test.ts": "removes only managedFields, and sets apiVersion and kind"
  }),
  "2.4 no copies": row("objects are not copied; a write to one fails in tests", {
    "streams/store/Store.test.ts": "freezes objects deeply, on arrival or when they are read",
    "layers/Cache.test.ts": "objects are trimmed, have their kind and, if so configured, are frozen"
  }),
  "2.4 informers": row("informers start and stop with their users; indexes may be added later", {
    "layers/Cache.test.ts": [
      "one informer serves all subscribers, and stops when the last one has ended and the idle time is over",
      "a read waits for the first sync, and fails with NotCached when the informer stops before",
      "an index may be added after the sync; a read by an undeclared index fails with its name"
    ]
  }),
  "2.5 initial state": row("the first list as a stream, otherwise in pages; then a watch with bookmarks", {
    "streams/watch/watch.test.ts": [
      "uses a streaming list with one request if the server supports it",
      "lists any version in pages of 500 and watches from the version of the list",
      "requests a random server-side timeout from five to ten minutes, and bookmarks",
      "lists in pages at once, and for an hour, after nothing arrives for a streaming list"
    ]
  }),
  "2.5 expiry": row("a 410 causes a relist; a version in the future is waited for", {
    "streams/watch/watchRegressions.test.ts":
      "case 4: 410 ${title} causes one atomic relist, and queues the owners of deleted objects",
    "streams/watch/watch.test.ts": "the watch waits for a replica that is behind, without a relist"
  }),
  "2.5 reconnecting": row("from the last version, at a bounded rate, also from dead sockets", {
    "streams/watch/watchRegressions.test.ts": [
      "case 2: a reset, a clean close and an idle connection resume from the last version without a relist",
      "case 1: the backoff is reset after two minutes without a failure, not before"
    ],
    "streams/watch/watchMachine.test.ts": [
      "ends with the server's state, at a bounded rate of requests, after any failures",
      "doubles the wait from 0.8 s to 30 s with jitter, and Retry-After is its lower bound"
    ],
    "platform/sockets.test.ts": "after half-open silence, whose connection is closed"
  }),
  "2.5 deltas": row("events in order; first list, missed deletions and recreated objects are marked", {
    "streams/store/Store.test.ts": [
      "equals a reference that recomputes everything, for random changes",
      "marks the objects of the first list as initial, and no others",
      "a relist yields deletions, and keeps unchanged objects without a delta"
    ],
    "layers/CacheRegressions.test.ts":
      "case 7: a deletion and a recreation while no watch is open arrive as two deltas with their uids",
    "layers/cache/Informer.test.ts":
      "every listener and subscriber ends with the server's state, without gaps or repetitions"
  }),
  "2.5 synced": row("synced is reported when every listener has the first list", {
    "layers/Cache.test.ts":
      "by `synced` every listener was called; a listener that throws is reported and affects no other"
  }),
  "2.5 slow subscribers": row("slow listeners block no others, in bounded memory", {
    "layers/Cache.test.ts": "a slow subscriber blocks no other, and its buffer merges deltas by key",
    "layers/cache/coalesce.test.ts": [
      "merged deltas lead to the same state, and each is consistent with the deltas before it",
      "holds at most one object for each key, and is empty after ten thousand creations and deletions"
    ]
  })
}
