/** What controller-runtime has, as far as it must be here first: manager, client, cache and informers. */
import { none, row, type Rows } from "./row.ts"

export const controllerRuntime: Rows = {
  "2.1 layers": row("parts of a manager are layers", {
    "testing/ClusterTest.test.ts": "apply stores every document; run reconciles them; settle is enough to see it",
    "layers/Controller.types.ts": "needsServices"
  }),
  "2.1 election": row("off unless asked for; its lease, labels, durations", {
    "scenario/coreLease.test.ts": [
      "are off by default, and nothing is elected",
      "--leader-elect gives each group a lease of its own"
    ],
    "leader/embedded.test.ts": "a lease goes from hand to hand",
    "scenario/badInput.test.ts": "a wrong command line, found before any cluster is"
  }),
  "2.1 release": row("the lease is given back when all work has ended", {
    "leader/Election.test.ts": "waits until the work inside has ended, and renews meanwhile",
    "scenario/stopUnderLoad.test.ts": "exits 0, hands over within one jittered retry, and leaves nothing half done"
  }),
  "2.1 durations": row("lease > renew > 1.2 × retry", {
    "leader/Election.test.ts": "durations that leave no room for one another are refused in one sentence",
    "scenario/badInput.test.ts": "a wrong command line, found before any cluster is"
  }),
  "2.1 listeners": row("metrics, probes, profiles: a busy port fails before anything starts", {
    "scenario/servers.test.ts": "an address in use is one line and exit 1",
    "manager/servers.test.ts": "an address in use ends the start if it was asked for, and is done without if not",
    "scenario/endpoints.test.ts": "are V8's, one at a time, and do not outlive it"
  }),
  "2.1 stop": row("the time of a stop; none and for ever", {
    "scenario/startStop.test.ts": [
      "is given up after --graceful-shutdown-timeout, with code 1 and one line",
      "interrupts it at once with ${flag}, and says nothing of it"
    ],
    "layers/Shutdown.test.ts": [
      "without a limit waits as long as the work takes",
      "loses its lease meanwhile: work is interrupted at once, and nothing is given up or given back"
    ]
  }),
  "2.1 loops": row("defaults of loops, and who overrules them", {
    "layers/controller/defaults.test.ts": [
      "keys at once: ${title}",
      "time for a run: ${title}",
      "a defect ${title}",
      "what was listed first waits for what is new: ${prioritizes}"
    ],
    "manager/runnables/concurrency.test.ts": "is the flag's, the kind's, everybody's, in that order"
  }),
  "2.1 additions": row("checks and pages of one's own; nobody takes the metrics' path", {
    "manager/servers.test.ts": [
      "one path has one handler: a further handler replaces neither the metrics nor a page",
      "further pages are asked behind the filter, and change nothing about the metrics"
    ],
    "manager/probes/handle.test.ts": "answer for what is registered, in the order of the names"
  }),
  "2.2 start": row("servers, caches, what needs no lease, election, what needs it", {
    "manager/startOrder.test.ts":
      "asks the server, reads the kinds, takes the lease, builds the controllers, and only then works",
    "manager/Manager.test.ts": [
      "a lost lease ends the manager, and the controllers get the reason",
      "keeps a standby warm: the kinds are synced before it leads, and leading lists nothing again"
    ],
    "scenario/servers.test.ts": "alive at once, ready when all has synced, every series there; closed at the end"
  }),
  "2.2 stop": row("work, lease, events, caches, servers, in one budget", {
    "layers/Shutdown.test.ts": [
      "takes no key, lets work finish, gives the lease back, sends events, closes watches, then servers",
      "interrupts what does not finish in its time, names it, and gives the lease back all the same"
    ],
    "scenario/stopAnywhere.test.ts": [
      "gives the lease back, then sends the events, then closes the watches, and answers probes meanwhile",
      "while another one leads: nothing is written"
    ]
  }),
  "2.2 lost": row("a lost lease ends the process at once; a stop is no loss", {
    "scenario/election.test.ts":
      "one of three writes; another does when it stops, when it is killed, and none when the lease is stolen",
    "scenario/stopAnywhere.test.ts": "while a lost lease is contended for again: no error, and the thief keeps it"
  }),
  "2.2 in flight": row("drain or interrupt", {
    "layers/Controller.test.ts": [
      "closing the scope drains: a running reconcile finishes, a queued one is not lost midway",
      "losing leadership interrupts a running reconcile at once"
    ],
    "layers/Shutdown.test.ts":
      "with ${JSON.stringify(stop)} interrupts at once, gives back and sends, and calls nothing given up"
  }),
  "2.3 reads": row("cached reads: by key, namespace, labels, index; live ones in pages", {
    "layers/Cache.test.ts": [
      "lists by namespace and labels",
      "indexes are shared and may come late; an undeclared one is refused by name",
      "each selection and projection has an informer of its own"
    ],
    "layers/KubeClient.test.ts": "list follows them, 500 at a time, and asks for the version only once"
  }),
  "2.3 writes": row("every verb, every option, always live", {
    "layers/KubeClient.test.ts": [
      "each verb has its method, path, query, headers and body",
      "what would reach another endpoint than meant is refused and not sent"
    ]
  }),
  "2.3 metadata": row("metadata alone can be read and not written", {
    "layers/KubeClient.test.ts": [
      "metadata projections ask for metadata and answer with the real kind",
      "what would reach another endpoint than meant is refused and not sent"
    ]
  }),
  "2.3 read your writes": row("a key waits for what was written under it, for so long, and it is counted", {
    "layers/Controller.test.ts": [
      "case 14: a reconcile sees its own write: the key waits until the cache has it, without a worker",
      "case 14: the wait for one's own write ends after 5 s when the event never comes"
    ],
    "layers/cache/VersionWaits.test.ts": "answers once, when the last of the informers has passed",
    "layers/cache/metrics.test.ts": "count relists by reason and waits by length, from zero",
    "layers/CacheNamespaces.test.ts": "no wait is pending"
  }),
  "2.3 errors": row("one error with reasons; Retry-After is kept", {
    "layers/callPolicy.test.ts": [
      "each transient failure is retried, no other",
      "Retry-After is a lower bound, believed up to thirty seconds"
    ],
    "platform/HttpTransport.test.ts": "fails with the reason the server gave, its Retry-After, and without any secret"
  }),
  "2.4 resync": row("resyncs without requests", {
    "layers/CacheNamespaces.test.ts":
      "a resync distributes every object as an update that changes nothing, without a request",
    "layers/controller/resync.test.ts": [
      "works on everything again, and first on what has changed meanwhile",
      "does nothing when it asks for changes only"
    ]
  }),
  "2.4 undeclared": row("reads of what nobody declared fail, and start nothing", {
    "layers/Cache.test.ts": "a read without a subscription fails with what to declare, and makes no request"
  }),
  "2.4 namespaces": row("an informer for each namespace, presented as one", {
    "layers/CacheNamespaces.test.ts": [
      "is one view of them, and never asks for all; one that does not exist is empty",
      "waits for a kind until every namespace of it has been read, and says which is missing"
    ],
    "layers/cache/namespaces.test.ts":
      "holds what a cache of everything holds of them, and shows each in all kinds at once or in none"
  }),
  "2.4 selections": row("a subscription has its own namespace, labels and fields", {
    "layers/Cache.test.ts": "each selection and projection has an informer of its own",
    "layers/CacheEmbedded.test.ts":
      "an object that leaves a selection is deleted from it, and the writer need not wait for the limit"
  }),
  "2.4 defaults by kind": row(
    "selectors, transforms and resyncs for all kinds and for one, the more particular first",
    {
      "layers/cache/kinds.test.ts": [
        "the more particular saying counts, and an empty one is all",
        "asks the server for what is meant, keeps what is to be kept, and is read by the same words",
        "resyncs the kinds with a resync period, and no others"
      ]
    }
  ),
  "2.4 defaults by namespace": none(
    "selectors and transforms of one namespace, namespaces of one kind, bookmarks that are off, a handler for errors of watches",
    "A subscription names its own namespace and selection; bookmarks cost nothing, and errors of watches are status, metrics and probes."
  ),
  "2.4 managedFields": row("are left out", {
    "layers/Cache.test.ts": "objects are trimmed, named and, when asked for, frozen",
    "streams/watch/trim.test.ts": "removes managedFields and nothing else, and fills in apiVersion and kind"
  }),
  "2.4 no copies": row("objects are not copied; who writes to one fails in tests", {
    "streams/store/Store.test.ts": "freezes objects whole, on arrival or when they are read",
    "layers/Cache.test.ts": "objects are trimmed, named and, when asked for, frozen"
  }),
  "2.4 informers": row("informers come and go with who asks; indexes may come late", {
    "layers/Cache.test.ts": [
      "one informer serves all subscribers; it outlives the last by the idle time and is reused within it",
      "reads wait for the first sync; they fail as not cached when the informer stops before",
      "indexes are shared and may come late; an undeclared one is refused by name"
    ]
  }),
  "2.5 initial state": row("a stream of what is there, else pages; then a watch with bookmarks", {
    "streams/watch/watch.test.ts": [
      "uses a streaming list where the server offers it, in one request",
      "lists in pages of 500 from any version and watches from the list's version",
      "draws the server-side timeout of watches from five to ten minutes and asks for bookmarks",
      "falls back to pages at once, and for an hour, where the streaming list is silent"
    ]
  }),
  "2.5 expiry": row("410 lists again; a version too large is waited for", {
    "streams/watch/watchRegressions.test.ts":
      "case 4: 410 ${title} relists once, swaps atomically and wakes the owners of what is gone",
    "streams/watch/watch.test.ts": "a replica that is behind is waited for, without a relist"
  }),
  "2.5 reconnecting": row("from the last version, at a bounded rate, also from dead sockets", {
    "streams/watch/watchRegressions.test.ts": [
      "case 2: reset, clean close and half-open silence resume from the last version without a relist",
      "case 1: the backoff starts over after two quiet minutes, not before"
    ],
    "streams/watch/watchMachine.test.ts": [
      "ends up with the server's state, at a bounded rate of requests, whatever happened",
      "doubles the wait from 0.8 s to 30 s, spreads it, and takes Retry-After for its lower bound"
    ],
    "platform/sockets.test.ts": "after half-open silence, whose connection is closed"
  }),
  "2.5 deltas": row("in order; first list, missed deletions and namesakes are told as such", {
    "streams/store/Store.test.ts": [
      "equals a reference that recomputes everything, over random changes",
      "marks what the first list brings as initial, and nothing else",
      "a relist yields deletions, and keeps unchanged objects without a delta"
    ],
    "layers/CacheRegressions.test.ts":
      "case 7: deleted and recreated while no watch was open is a delete and a create with the new uid",
    "layers/cache/Informer.test.ts":
      "every listener and follower ends with the server's state, without gaps or repetitions"
  }),
  "2.5 synced": row("synced is told when every listener has been", {
    "layers/Cache.test.ts":
      "synced means that every listener was called; a listener that throws is reported and affects no other"
  }),
  "2.5 slow subscribers": row("block nobody, in bounded memory", {
    "layers/Cache.test.ts": "a slow subscriber blocks no other, and its buffer merges deltas by key",
    "layers/cache/coalesce.test.ts": [
      "merged deltas lead to the same state, each fitting the deltas before it",
      "holds at most one object a key, and returns to empty after ten thousand creations and deletions"
    ]
  })
}
