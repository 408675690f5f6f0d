import type { CommandModule } from "../program/command.ts";
import { runLab } from "../program/run-lab.ts";

export const usage = `butler bench latency [--n <memories>] [--queries <calls>] [--store pglite|postgres] [--keep <folder>] [--json]

Builds a store of invented memories through the ordinary tools, with durable commits, and measures: search, context and
store in the owner and over its socket, eight searchers at once, the first answer of a new process, the memory that
processes take, and the bytes that vectors and tokens take.
--n 10000, --queries 200 and pglite are the defaults. --keep builds into a folder, or uses what was built there before.
postgres needs BUTLER_DATABASE_URL; the database butler_bench… is removed afterwards unless --keep is given.

butler bench scale [--n <memories>] [--queries <calls>] [--store pglite|postgres] [--keep] [--json]

The same calls on a store that is too large to be built through the tools (100,000 memories if not said), and how much of the
true nearest the vector index finds. Rows are written by SQL, without events. Words are indexed as always, but at most
4,000 texts go through the model: all other vectors are mixtures of theirs. --keep leaves the database butler_bench_scale_<n>, or
the folder bench of BUTLER_HOME, and the next run with --keep measures what is there.

butler bench pages [--facts <n>] [--rules <n>] [--episodes <n>] [--events <n>] [--calls <of each>] [--only <words>]
                   [--store pglite|postgres] [--keep <folder>] [--json]

Asks every route of the pages' API that reads memories, its first page, a later one and each filter, on a year of one person's
memory: 100,000 facts with chains and all states, 5,000 rules with marks, 50,000 episodes, and 1,000,000 events, if not said
otherwise. Rows and events are written by SQL, vectors are mixtures as with scale. --only measures the routes with these words in
their names. --keep fills a folder (and the database butler_pages), or measures what was filled there before.

butler bench jobs [--n <facts>] [--store pglite|postgres] [--json]

Sweeps that many facts (100,000 if not said), of which 15 % change, with searches beside it, and replays the events.

butler bench quality --data <file> [--data <file> …] [--store pglite|postgres] [--mode hybrid|semantic|keyword]
                     [--rerank late-interaction|cross-encoder|none] [--no-model] [--pool [--distractors <n>]]
                     [--ablation] [--keep <folder>] [--svg <folder>] [--json]

Stores the memories of each corpus in a store of its own, asks every question with one memory_search, and says how much of
the evidence came back. A file is {name, corpora: [{id, memories: [{id, session?, time?, speaker?, text}],
questions: [{id, question, category, evidence: [memory ids]}]}]}.
--pool puts everything into one store, with --distractors beside invented memories, and compares. --ablation leaves parts
of the recipe out, one after the other. --keep leaves the stores in a folder and uses them again for the same files and
model; take another folder when what is stored of a memory has changed. --svg writes a chart.

butler bench intent [--prompts <of each intent>] [--json]

Stores the invented memory of a person and of projects, and asks for identities, preferences, procedures and events, with
intent routing and diversification on and off.

butler bench hooks [--n <memories>] [--queries <sessions>] [--keep <folder>] [--json]

Installs the hooks of Claude Code into a folder of its own and runs them as that agent does, in a project with 10,000 memories:
the start of a session with an owner running and with none, a prompt, the end of a turn; and what butler run adds to the
start of an agent. --keep as with latency, in another folder.

butler bench everyday [--n <memories>] [--runs <of each>] [--keep <folder>] [--json]

What a person who runs an agent all day waits and pays for: hooks with an owner running and with none, the owner's first
answer, its memory awake and at rest, the start of butler mcp, and the tokens of the tool list and of answers, as text and
as JSON. Each figure stands beside its floor in the same run. --n 1000 and --runs 20 are the defaults.

butler bench consolidation --data <file> [--store pglite|postgres] [--json]

Stores the memories of each corpus as episodes and learns from them with the local extractor: facts for 100 turns, duplicates,
provenance, what a second run changes, turns a second, and how many of a fixed sample a reader judged right.

butler bench learning [--data <file> …] [--held-out] [--misses] [--train] [--json]

Tells each labelled message to the local extractor and says how much of what was worth keeping it learned, and how much of what it
learned was wanted; by file and by kind; and how many of them a language model need not be asked about. Without --data: the messages of corpus/aside, with which nothing was trained. --held-out reads the
messages of each file with weights that are made from the other files (those of --data, or of corpus/train). --misses names what was missed, not wanted or inverted. --train makes the weights of the sentence reader anew from corpus/train (in a checkout).
A line of a file is {"text", "keep": [{"part", "kind"}], "like"?}: corpus/README.md says more.

butler bench week [--data <file>] [--searched] [--json]

Lives through a scripted week of 30 sessions in one project, with hooks, transcripts and jobs on a moved clock, and prints what each
session is told at its start, each line judged useful (+), useless (.) or harmful (!). --searched asks as for a first prompt instead.

butler bench tenants [--n <memories>] [--queries <calls>] [--store pglite|postgres] [--json]

Two tenants in one store, each with a limit of 20 calls a second: one searches in peace, the other sends 200 a second. Says how long
the first one waits with and without the second, in turns of 20 calls, over HTTP. --n 1000 and --queries 200 are the defaults.

butler bench load [--seconds <n>] [--reads <a second>] [--writes <a second>] [--burst <times>] [--n <memories>]
                  [--store pglite|postgres] [--keep <folder>] [--json]

Calls an owner in a process of its own at moments that are fixed beforehand, whether earlier calls have been answered or not, and counts
each from the moment it was due, so that a stall is not hidden: 50 context reads and 40 episode writes a second for 600 seconds, twice as
many in bursts of two seconds every twenty, with 10,000 memories before, if not said otherwise. A call that fails or
is given up counts as later than every answer. Prints times by kind and by minute, the shares of answered reads and acknowledged writes, degraded answers,
acknowledged writes that the store does not hold, errors by code, the owner's memory over time and the backlog, against the specified objectives and a tenth of them.

butler bench peers [--n <memories>] [--queries <questions>] [--data <file>] [--only <words>] [--keep <folder>] [--minutes <n>] [--install] [--json]

Stores the same memories and asks the same questions with the same model in this program and in others, each in a process
of its own: plain SQLite, plain PostgreSQL, mem0, Mastra's memory, LangGraph's store. Says how fast each stores and finds, how much of the
evidence (--data, as with quality, topped up to --n with invented memories), and where this program is behind. The others are no part of this program:
--install fetches them from npm, in fixed versions, into the folder cache/peers of BUTLER_HOME. Those on PostgreSQL need BUTLER_DATABASE_URL.
The vectors of the memories are made once for all, and each peer is filled by one process and searched by the next; a peer that is not full after --minutes
is searched with what it has, and that is said. All that are searched are open at the same time and asked in turns, so that a change of the machine's pace meets
every one of them; what a peer does after its answers is waited for before the next one's turn. --keep leaves stores and vectors in a folder (and databases butler_peers-…), and the next run with the same memories
searches what is there. --only asks those whose names hold these words, several with / between them ("butler/postgresql"). --n 2000, --queries 200, --minutes 10.

butler bench fleet [--users <n>] [--days <n>] [--sessions <a day>] [--sample <n>] [--store pglite|postgres] [--json]

Lives through days of many people, each a tenant of one store, on a clock that is moved: sessions that read and write, learning every six hours,
promotion, decay, cleanup and retention every night. Prints the age of the backlog, the time of each job, the growth of every table in rows and bytes
a user, CPU seconds, statements and bytes a user, and what 10,000 users would need, extrapolated in proportion. What people say is from one bank of sentences,
each of which goes through the model once; what the others would have cost is added. With --sample so many users go on after the first day, and the jobs are for
all; growth is then an estimate, by the user-days that were lived. --users 10, --days 10 and --sessions 6 end within minutes; 10,000 users with 30 sessions a day are 600,000 calls a day.`;

export const run: CommandModule["run"] = (args) => runLab(["bench", ...args]);
