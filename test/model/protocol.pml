/*
 * The protocol between Kafka, the projectors, Postgres, Redis, and the query processes; README.md explains it. One
 * partition, one shard. Every `atomic` is one step that nothing interrupts: a transaction, a Redis command, a script.
 * Switches: OLD_* is a rule of before, DRAFT_* one that was planned and that this model refuted.
 */
#ifndef RECORDS
#define RECORDS 2
#endif
#ifndef EVENTS
#define EVENTS 1
#endif
#ifndef LOSSES /* how often Postgres comes back without its last commits */
#define LOSSES 1
#endif
#ifndef ROLLBACKS /* how often one Redis key goes back or vanishes */
#define ROLLBACKS 2
#endif
#ifndef MOVES /* how often the partition gets another owner; the one before may be frozen, and go on later */
#define MOVES 1
#endif
#ifndef TRANSACTIONS /* how many records another producer writes in a transaction */
#define TRANSACTIONS 0
#endif
#ifndef QUERIES
#define QUERIES 1
#endif
#define PROJECTORS 2

#if defined(OLD_REVISIONS) || defined(OLD_READ)
#define NO_EPOCHS
#else
#define WALK
#endif
#ifdef TRACK /* what revisions stand for would have to be restored, too */
#define NO_SETTLING
#endif
#define MUST(condition, otherwise) if :: (condition) :: else -> printf(otherwise); assert(false) fi

/* A set of records is a bit mask; record i is of event i modulo EVENTS. */
#if EVENTS == 1
#define OF(e) 255
#else
#define OF(e) (85 << (e))
#endif
#define BELOW(n) ((1 << (n)) - 1)
#define HOLDS(content, asOf, e) (((asOf) & OF(e) & ~(content)) == 0)
#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define MIN(a, b) ((a) < (b) -> (a) : (b))

typedef PerEvent { byte at[EVENTS] }
typedef Postgres {
  byte next;      /* first offset that is not applied */
  byte last;      /* revision of the partition's last batch */
  byte asOf;      /* the records that were acknowledged at the time up to which everything is counted */
  byte epoch;
  byte sequence;  /* of revisions */
  PerEvent revision;
  PerEvent content
}
typedef EventHash { byte revision; byte epoch; byte content }
typedef ShardHash { byte epoch; byte asOf; byte published; PerEvent revision }

/* Kafka. Records behind an open transaction are acknowledged, but readers stop at `stable`. */
byte logEnd, stable, acknowledged, transactions, transactionAt;
bit isOpen;

Postgres pg, pgBefore;
bit hasPgBefore;
byte losses;
byte highest; /* the highest revision or epoch ever handed out: the clock in microseconds is above it */

EventHash hash[EVENTS], hashBefore[EVENTS];
ShardHash shard, shardBefore;
bit hasHashBefore[EVENTS], hasShardBefore;
byte rollbacks;

byte owner, moves;
byte applied[PROJECTORS];
bit isBatch[PROJECTORS], isIdle[PROJECTORS];
byte from[PROJECTORS], next[PROJECTORS];
/* Publications that are pending: events, and the span of the mark. */
byte pending[PROJECTORS], since[PROJECTORS], upTo[PROJECTORS];

/* What query processes remember. */
PerEvent head[QUERIES];
byte said[QUERIES];

#ifdef TRACK /* what a revision stands for, plus one */
#define REVISIONS 16
typedef Meaning { byte at[REVISIONS] }
Meaning meaning[EVENTS];
#endif

/* Faults: before a write, the state may be kept; later it may come back. */
inline keepPg() {
  if
  :: losses < LOSSES && !hasPgBefore -> hasPgBefore = 1; copyPg(pgBefore, pg)
  :: skip
  fi
}
inline keepHash(e) {
  if
  :: rollbacks < ROLLBACKS && !hasHashBefore[e] -> hasHashBefore[e] = 1; copyHash(hashBefore[e], hash[e])
  :: skip
  fi
}
inline keepShard() {
  if
  :: rollbacks < ROLLBACKS && !hasShardBefore -> hasShardBefore = 1; copyShard(shardBefore, shard)
  :: skip
  fi
}
inline copyPg(a, b) {
  a.next = b.next; a.last = b.last; a.asOf = b.asOf; a.epoch = b.epoch; a.sequence = b.sequence;
  a.revision.at[0] = b.revision.at[0]; a.content.at[0] = b.content.at[0];
#if EVENTS > 1
  a.revision.at[1] = b.revision.at[1]; a.content.at[1] = b.content.at[1];
#endif
}
inline copyHash(a, b) { a.revision = b.revision; a.epoch = b.epoch; a.content = b.content }
inline copyShard(a, b) {
  a.epoch = b.epoch; a.asOf = b.asOf; a.published = b.published; a.revision.at[0] = b.revision.at[0];
#if EVENTS > 1
  a.revision.at[1] = b.revision.at[1];
#endif
}
inline clearPgBefore() {
  hasPgBefore = 0;
  pgBefore.next = 0; pgBefore.last = 0; pgBefore.asOf = 0; pgBefore.epoch = 0; pgBefore.sequence = 0;
  pgBefore.revision.at[0] = 0; pgBefore.content.at[0] = 0;
#if EVENTS > 1
  pgBefore.revision.at[1] = 0; pgBefore.content.at[1] = 0;
#endif
}
inline clearHashBefore(e) {
  hasHashBefore[e] = 0; hashBefore[e].revision = 0; hashBefore[e].epoch = 0; hashBefore[e].content = 0
}
inline clearShardBefore() {
  hasShardBefore = 0; shardBefore.epoch = 0; shardBefore.asOf = 0; shardBefore.published = 0;
  shardBefore.revision.at[0] = 0;
#if EVENTS > 1
  shardBefore.revision.at[1] = 0;
#endif
}

/* Postgres */
inline takeRevision() {
  pg.sequence++;
  highest = MAX(highest, pg.sequence)
}
inline mean(e) {
#ifdef TRACK
  MUST(meaning[e].at[pg.revision.at[e]] == 0 || meaning[e].at[pg.revision.at[e]] == pg.content.at[e] + 1,
    "VIOLATED: a revision stands for two contents\n");
  meaning[e].at[pg.revision.at[e]] = pg.content.at[e] + 1
#else
  skip
#endif
}
/* After Postgres has come back, every connection is new, and the first one opens an epoch. */
inline openEpoch() {
#ifndef NO_EPOCHS
  highest++;
  pg.epoch = highest;
  pg.sequence = highest
#else
#ifdef OLD_REVISIONS
  skip
#else
  pg.sequence = highest
#endif
#endif
}
inline touch(p, e) {
  if
  :: ((BELOW(next[p]) & ~BELOW(pg.next)) & OF(e)) ->
     pg.content.at[e] = pg.content.at[e] | ((BELOW(next[p]) & ~BELOW(pg.next)) & OF(e));
     pg.revision.at[e] = pg.sequence;
     pending[p] = pending[p] | (1 << e);
     mean(e)
  :: else
  fi
}
/* projectBatch: the fence, apply, store the offset; then note what is to be published. */
inline project(p) {
  if
  :: from[p] > pg.next || next[p] <= pg.next -> applied[p] = pg.next;
     printf("projector %d: batch %d..%d does not fit offset %d\n", p, from[p], next[p], pg.next)
  :: else ->
     takeRevision();
     touch(p, 0);
#if EVENTS > 1
     touch(p, 1);
#endif
     noteMark(p, pg.last, pg.sequence);
     pg.last = pg.sequence;
     pg.next = next[p];
     applied[p] = next[p];
     printf("projector %d: applies up to offset %d, revision %d, content %d\n", p, pg.next, pg.sequence, pg.content.at[0])
  fi;
  isBatch[p] = 0; from[p] = 0; next[p] = 0
}
/* Two spans make one if they touch; otherwise the later one stays, and heal finds what lies before it. */
inline noteMark(p, begins, ends) {
  if
  :: upTo[p] == 0 -> since[p] = begins; upTo[p] = ends
  :: else ->
     if
     :: begins > upTo[p] -> since[p] = begins; upTo[p] = ends
     :: since[p] > ends
     :: else -> since[p] = MIN(since[p], begins); upTo[p] = MAX(upTo[p], ends)
     fi
  fi
}
/* The watch notices that Postgres lost commits, and reads again from the stored offset. */
inline noticeLoss(p) {
#ifndef OLD_WATCH
  if
  :: pg.next < applied[p] -> applied[p] = pg.next; printf("projector %d: Postgres lost commits, seeks back to %d\n", p, pg.next)
  :: else
  fi
#else
  skip
#endif
}
/* raiseAsOf in Postgres: everything up to `markEnd` is applied, so all acknowledged before the mark is counted. */
inline raisePg(p, markAsOf, markEnd) {
  if
  :: pg.next >= markEnd && applied[p] >= markEnd -> pg.asOf = MAX(pg.asOf, markAsOf);
     printf("projector %d: Postgres says asOf %d in epoch %d\n", p, pg.asOf, pg.epoch);
     /* An answer from Postgres takes both from one snapshot. */
     MUST(HOLDS(pg.content.at[0], pg.asOf, 0), "VIOLATED: an answer lacks a record acknowledged before its asOf\n")
  :: else
  fi
}

/* Redis scripts */
inline publish(e, doc) {
  if
  :: hash[e].revision <= doc.revision && doc.revision > 0 -> copyHash(hash[e], doc);
     printf("Redis event %d: revision %d of epoch %d, content %d\n", e, doc.revision, doc.epoch, doc.content)
  :: else
  fi
}
inline enter(inEpoch, asOfThere) {
#ifndef NO_EPOCHS
  if
  :: shard.epoch < inEpoch ->
#ifdef DRAFT_TAKEOVER
     shard.asOf = MIN(shard.asOf, asOfThere);
#else
     shard.asOf = 0;
#endif
     shard.epoch = inEpoch; printf("Redis shard: enters epoch %d, asOf %d\n", inEpoch, shard.asOf)
  :: else
  fi
#else
  skip
#endif
}
inline notePublished(e, doc) {
  shard.revision.at[e] = MAX(shard.revision.at[e], doc.revision);
  printf("Redis shard: revision of event %d is %d\n", e, shard.revision.at[e])
}
inline advance(begins, ends) {
  if
  :: shard.published >= begins -> shard.published = MAX(shard.published, ends); printf("Redis shard: published %d\n", shard.published)
  :: else
  fi
}
inline raiseRedis(inEpoch, toAsOf, required) {
#ifdef NO_EPOCHS
  shard.asOf = MAX(shard.asOf, toAsOf); printf("Redis shard: asOf %d\n", shard.asOf)
#else
#ifdef DRAFT_RAISE
  enter(inEpoch, toAsOf);
  if
  :: shard.epoch == inEpoch -> shard.asOf = MAX(shard.asOf, toAsOf); printf("Redis shard: asOf %d\n", shard.asOf)
  :: else
  fi
#else
  enter(inEpoch, toAsOf);
  if
  :: shard.epoch == inEpoch && shard.published >= required -> shard.asOf = MAX(shard.asOf, toAsOf); printf("Redis shard: asOf %d\n", shard.asOf)
  :: else
  fi
#endif
#endif
}

/* Publishing: compose in a snapshot, enter the epoch, publish each event, advance the mark. */
inline compose(p) {
  todo = pending[p]; begins = since[p]; ends = upTo[p];
  pending[p] = 0; since[p] = 0; upTo[p] = 0;
  composeOne(0);
#if EVENTS > 1
  composeOne(1);
#endif
  inEpoch = pg.epoch; asOfThere = pg.asOf;
  printf("projector %d: composes event 0 at revision %d, epoch %d, content %d\n", p, pg.revision.at[0], pg.epoch, pg.content.at[0])
}
inline composeOne(e) {
  if
  :: todo & (1 << e) ->
     docs[e].revision = pg.revision.at[e]; docs[e].epoch = pg.epoch; docs[e].content = pg.content.at[e]
  :: else
  fi
}
inline publishOne(e) {
  if
  :: todo & (1 << e) -> publish(e, docs[e])
  :: else
  fi
}
inline finish() {
#if !defined(NO_EPOCHS) && !defined(DRAFT_ADVANCE)
  enter(inEpoch, asOfThere);
  if
  :: shard.epoch > inEpoch -> todo = 0; ends = 0
  :: else
  fi;
#endif
  noteOne(0);
#if EVENTS > 1
  noteOne(1);
#endif
  if
  :: ends > 0 -> advance(begins, ends)
  :: else
  fi;
  docs[0].revision = 0; docs[0].epoch = 0; docs[0].content = 0;
#if EVENTS > 1
  docs[1].revision = 0; docs[1].epoch = 0; docs[1].content = 0;
#endif
  todo = 0; begins = 0; ends = 0; inEpoch = 0; asOfThere = 0
}
inline noteOne(e) {
  if
  :: todo & (1 << e) -> notePublished(e, docs[e])
  :: else
  fi
}
inline healOne(p, e, mark) {
  if
  :: pg.revision.at[e] > mark -> pending[p] = pending[p] | (1 << e)
  :: else
  fi
}
inline heal(p, required) {
  if
  :: shard.published < required ->
     healOne(p, 0, shard.published);
#if EVENTS > 1
     healOne(p, 1, shard.published);
#endif
     noteMark(p, shard.published, required)
  :: else
  fi
}
/* What the walk found in Redis of an event, compared with Postgres. */
inline compare(p, e, found) {
  if
  :: found > pg.revision.at[e] && pg.revision.at[e] > 0 ->
     takeRevision();
     pg.revision.at[e] = pg.sequence;
     pending[p] = pending[p] | (1 << e);
     printf("projector %d: the walk found revision %d, gives event %d revision %d\n", p, found, e, pg.sequence);
     mean(e)
  :: found < pg.revision.at[e] -> pending[p] = pending[p] | (1 << e)
  :: else
  fi
}

/*
 * A batch is fetched and projected in one step; what the fence sees is the same. Only the one that a projector has in
 * work when it loses the partition (World) stays, for as long as it is frozen.
 */
proctype Reader(byte p) {
  endless: do
  :: atomic { owner == p && !isBatch[p] && applied[p] < stable ->
       from[p] = applied[p]; next[p] = stable; isBatch[p] = 1; keepPg(); project(p) }
  :: atomic { isBatch[p] -> keepPg(); project(p) }
  od
}

proctype Publisher(byte p) {
  EventHash docs[EVENTS];
  byte todo, begins, ends, inEpoch, asOfThere; /* of a flush */
  byte required, toAsOf, fromEpoch;            /* of a tick */
  byte found, e;                               /* of a walk */
  bit isTick;
  idle: do
  :: atomic { pending[p] || upTo[p] -> isIdle[p] = 0; keepShard(); compose(p); enter(inEpoch, asOfThere) };
     goto flush
  :: atomic { owner == p -> isIdle[p] = 0; isTick = 1; required = pg.last; noticeLoss(p);
#ifdef DRAFT_RAISE
     };
     atomic {
#endif
       keepPg();
#ifdef OLD_ENDS
       raisePg(p, acknowledged, stable);
#else
       raisePg(p, acknowledged, logEnd);
#endif
#ifndef DRAFT_RAISE
       required = pg.last;
#endif
       toAsOf = pg.asOf; fromEpoch = pg.epoch };
     goto tick
#ifdef WALK
  :: atomic { owner == p -> isIdle[p] = 0; found = hash[0].revision; e = 0 }; goto walk
#if EVENTS > 1
  :: atomic { owner == p -> isIdle[p] = 0; found = hash[1].revision; e = 1 }; goto walk
#endif
#endif
  od;
  tick:
  if
  :: atomic { pending[p] || upTo[p] -> keepShard(); compose(p); enter(inEpoch, asOfThere) }; goto flush
  :: atomic { !(pending[p] || upTo[p]) -> skip }
  fi;
  healing: atomic { isTick = 0; heal(p, required) };
  if
  :: atomic { pending[p] || upTo[p] -> keepShard(); compose(p); enter(inEpoch, asOfThere) }; goto flush
  :: atomic { !(pending[p] || upTo[p]) -> skip }
  fi;
  raise: atomic { keepShard(); raiseRedis(fromEpoch, toAsOf, required);
    required = 0; toAsOf = 0; fromEpoch = 0; isIdle[p] = 1 };
  goto idle;
  walk: atomic { keepPg(); compare(p, e, found); found = 0; e = 0; isIdle[p] = 1 };
  goto idle;
  flush: atomic { keepHash(0); publishOne(0) };
#if EVENTS > 1
  atomic { keepHash(1); publishOne(1) };
#endif
#ifdef DRAFT_PIECES
  atomic { keepShard(); enter(inEpoch, asOfThere);
    if
    :: shard.epoch == inEpoch -> noteOne(0)
    :: else
    fi;
    todo = todo & ~1 };
#endif
  atomic { keepShard(); finish() };
  if
  :: atomic { isTick }; goto healing
  :: atomic { !isTick && fromEpoch > 0 }; goto raise
  :: atomic { !isTick && fromEpoch == 0 -> isIdle[p] = 1 }; goto idle
  fi
}

/* Whether a hash of an event may be answered with the watermark of a shard's hash. */
#ifdef NO_EPOCHS
#define FITS(doc, sRevision, sEpoch) (doc.revision > 0)
#else
#define FITS(doc, sRevision, sEpoch) (doc.revision > 0 && doc.revision >= sRevision && doc.epoch <= sEpoch)
#endif

inline answer(holds, stamped, tellsAsOf, ofEpoch, tellsEpoch) {
  printf("query %d: answers event %d at revision %d, content %d, asOf %d, epochs %d %d\n", q, e, stamped, holds, tellsAsOf, ofEpoch, tellsEpoch);
  MUST(HOLDS(holds, tellsAsOf, e), "VIOLATED: an answer lacks a record acknowledged before its asOf\n");
#ifdef TRACK
  MUST(meaning[e].at[stamped] == holds + 1, "VIOLATED: a revision stands for two contents\n");
#endif
#ifdef MEMORY
  MUST(lastEpoch[e] != ofEpoch || (lastContent[e] & ~(holds)) == 0, "VIOLATED: a query process goes back\n");
  MUST(lastAsOfEpoch[e] != tellsEpoch || lastAsOf[e] <= tellsAsOf, "VIOLATED: a query process goes back\n");
  lastEpoch[e] = ofEpoch; lastContent[e] = holds; lastAsOfEpoch[e] = tellsEpoch; lastAsOf[e] = tellsAsOf
#endif
}
/* Postgres answers if Redis lacks the event, is inconsistent, or is behind; so it may answer at any time. */
inline fromPostgres(which) {
  if
  :: pg.revision.at[which] > 0 ->
     e = which;
#ifdef OLD_SAID
     said[q] = MAX(pg.asOf, said[q]);
     answer(pg.content.at[e], pg.revision.at[e], said[q], pg.epoch, pg.epoch);
     head[q].at[e] = MAX(head[q].at[e], pg.revision.at[e]);
#else
     answer(pg.content.at[e], pg.revision.at[e], pg.asOf, pg.epoch, pg.epoch);
     said[q] = pg.asOf;
     head[q].at[e] = pg.revision.at[e];
#endif
     e = 0
  :: else
  fi
}
proctype Query(byte q) {
  byte e, sAsOf, sEpoch, sRevision;
#ifdef MEMORY
  byte lastContent[EVENTS], lastAsOf[EVENTS], lastEpoch[EVENTS], lastAsOfEpoch[EVENTS]; /* to check: no going back */
#endif
#ifdef REPAIR
  EventHash doc;
#endif
  endless: do
  /* An answer without a watermark comes from Postgres. */
  :: atomic { shard.asOf > 0 -> sAsOf = shard.asOf; sEpoch = shard.epoch; sRevision = shard.revision.at[0]; e = 0 }; goto second
#if EVENTS > 1
  :: atomic { shard.asOf > 0 -> sAsOf = shard.asOf; sEpoch = shard.epoch; sRevision = shard.revision.at[1]; e = 1 }; goto second
#endif
#ifdef MEMORY
  :: atomic { fromPostgres(0) }
#if EVENTS > 1
  :: atomic { fromPostgres(1) }
#endif
#endif
#ifdef REPAIR
  :: atomic { hash[0].revision == 0 && pg.revision.at[0] > 0 && pg.epoch == shard.epoch ->
       e = 0; doc.revision = pg.revision.at[0]; doc.epoch = pg.epoch; doc.content = pg.content.at[0] };
     atomic { keepHash(0); publish(0, doc); doc.revision = 0; doc.epoch = 0; doc.content = 0 }
#endif
  od;
  second: atomic {
    if
    :: FITS(hash[e], sRevision, sEpoch) ->
#ifdef MEMORY
       printf("query %d: reads asOf %d (epoch %d), revision %d (epoch %d), content %d\n", q, sAsOf, sEpoch, hash[e].revision, hash[e].epoch, hash[e].content);
       /* Also if Postgres is down and this is older than what was said. */
       MUST(HOLDS(hash[e].content, sAsOf, e), "VIOLATED: an answer lacks a record acknowledged before its asOf\n");
       if
       :: hash[e].revision >= head[q].at[e] && sAsOf >= said[q] ->
          answer(hash[e].content, hash[e].revision, sAsOf, hash[e].epoch, sEpoch);
          head[q].at[e] = hash[e].revision; said[q] = sAsOf
       :: else
       fi
#else
       answer(hash[e].content, hash[e].revision, sAsOf, hash[e].epoch, sEpoch)
#endif
    :: else
    fi;
    sAsOf = 0; sEpoch = 0; sRevision = 0; e = 0
  };
  goto endless
}
/* Producers and faults */
proctype World() {
  byte e;
  endless: do
  :: atomic { logEnd < RECORDS -> acknowledged = acknowledged | (1 << logEnd); logEnd++;
       if
       :: !isOpen -> stable = logEnd
       :: else
       fi;
       printf("a record at offset %d is acknowledged\n", logEnd - 1) }
#if TRANSACTIONS > 0
  :: atomic { logEnd < RECORDS && !isOpen && transactions < TRANSACTIONS ->
       isOpen = 1; transactions++; transactionAt = logEnd; logEnd++;
       printf("ANOTHER PRODUCER LEAVES A TRANSACTION OPEN at offset %d\n", transactionAt) }
  :: atomic { isOpen -> printf("THE OTHER PRODUCER COMMITS\n"); isOpen = 0; acknowledged = acknowledged | (1 << transactionAt); transactionAt = 0; stable = logEnd }
#endif
  :: atomic { hasPgBefore && losses < LOSSES -> losses++; copyPg(pg, pgBefore); clearPgBefore(); openEpoch();
       printf("POSTGRES LOSES COMMITS: offset %d, content %d, asOf %d, epoch now %d\n", pg.next, pg.content.at[0], pg.asOf, pg.epoch) }
  :: atomic { hasShardBefore && rollbacks < ROLLBACKS -> rollbacks++; copyShard(shard, shardBefore); clearShardBefore();
       printf("REDIS SHARD GOES BACK: epoch %d, asOf %d, published %d, revision of event 0: %d\n", shard.epoch, shard.asOf, shard.published, shard.revision.at[0]) }
  :: atomic { hasHashBefore[0] && rollbacks < ROLLBACKS -> rollbacks++; copyHash(hash[0], hashBefore[0]); clearHashBefore(0);
       printf("REDIS EVENT 0 GOES BACK: revision %d of epoch %d, content %d\n", hash[0].revision, hash[0].epoch, hash[0].content) }
#if EVENTS > 1
  :: atomic { hasHashBefore[1] && rollbacks < ROLLBACKS -> rollbacks++; copyHash(hash[1], hashBefore[1]); clearHashBefore(1) }
#endif
  :: atomic { moves < MOVES -> moves++;
       if
       :: applied[owner] < stable && !isBatch[owner] -> isBatch[owner] = 1; from[owner] = applied[owner]; next[owner] = stable
       :: skip
       fi;
       owner = 1 - owner; applied[owner] = pg.next;
       printf("OWNER IS NOW PROJECTOR %d\n", owner) }
  od
}

/*
 * When faults stop, everything becomes exact: at any moment at which the owner's watch is between two rounds, three
 * rounds of reading, ticking, and walking lead to the truth, also without a new record. The state is put back after.
 */
#ifndef NO_SETTLING
hidden Postgres kPg; hidden ShardHash kShard; hidden EventHash kHash[EVENTS];
hidden EventHash docs[EVENTS];
hidden byte todo, begins, ends, inEpoch, asOfThere, rounds, kApplied, kFrom, kNext, kPending, kSince, kUpTo, kHighest,
  kStable, kAcknowledged, walked, kIsBatch;
inline flushNow() {
  if
  :: pending[owner] || upTo[owner] ->
     compose(owner); enter(inEpoch, asOfThere); publishOne(0);
#if EVENTS > 1
     publishOne(1);
#endif
     finish()
  :: else
  fi
}
inline exact(e) {
  MUST(pg.content.at[e] == (BELOW(logEnd) & OF(e)), "VIOLATED: faults stopped, and Postgres does not hold the truth\n");
  MUST(pg.revision.at[e] == 0 || hash[e].content == pg.content.at[e],
    "VIOLATED: faults stopped, and a document in Redis stays wrong\n");
  MUST(pg.revision.at[e] == 0 || FITS(hash[e], shard.revision.at[e], shard.epoch),
    "VIOLATED: faults stopped, and a document in Redis never fits again\n");
  MUST(shard.asOf == acknowledged, "VIOLATED: faults stopped, and asOf stays behind in Redis\n")
}
proctype Settling() {
  do
  :: d_step { isIdle[owner] && logEnd == RECORDS ->
       copyPg(kPg, pg); copyShard(kShard, shard); copyHash(kHash[0], hash[0]);
#if EVENTS > 1
       copyHash(kHash[1], hash[1]);
#endif
       kApplied = applied[owner]; kFrom = from[owner]; kNext = next[owner]; kIsBatch = isBatch[owner]; kHighest = highest;
       kPending = pending[owner]; kSince = since[owner]; kUpTo = upTo[owner]; kStable = stable; kAcknowledged = acknowledged;
       stable = logEnd; acknowledged = BELOW(logEnd);
       rounds = 0;
       printf("FAULTS STOP\n");
       do
       :: rounds < 3 ->
          rounds++;
          noticeLoss(owner);
          do
          :: isBatch[owner] -> project(owner)
          :: !isBatch[owner] && applied[owner] < stable -> from[owner] = applied[owner]; next[owner] = stable; isBatch[owner] = 1
          :: else -> break
          od;
          raisePg(owner, acknowledged, logEnd);
          flushNow();
          heal(owner, pg.last);
          flushNow();
          raiseRedis(pg.epoch, pg.asOf, pg.last);
#ifdef WALK
          walked = hash[0].revision; compare(owner, 0, walked);
#if EVENTS > 1
          walked = hash[1].revision; compare(owner, 1, walked);
#endif
          flushNow();
#endif
       :: else -> break
       od;
       MUST(pg.next == logEnd, "VIOLATED: faults stopped, and Postgres stays behind\n");
       MUST(pg.asOf == acknowledged, "VIOLATED: faults stopped, and asOf stays behind\n");
       exact(0);
#if EVENTS > 1
       exact(1);
#endif
       copyPg(pg, kPg); copyShard(shard, kShard); copyHash(hash[0], kHash[0]);
#if EVENTS > 1
       copyHash(hash[1], kHash[1]);
#endif
       applied[owner] = kApplied; from[owner] = kFrom; next[owner] = kNext; isBatch[owner] = kIsBatch; highest = kHighest;
       pending[owner] = kPending; since[owner] = kSince; upTo[owner] = kUpTo; stable = kStable; acknowledged = kAcknowledged;
       printf("STATE PUT BACK\n")
     }
  od
}
#endif

init {
  atomic {
#ifndef NO_EPOCHS
    pg.epoch = 1; pg.sequence = 1; highest = 1;
#endif
    isIdle[0] = 1; isIdle[1] = 1;
    run World(); run Reader(0); run Reader(1); run Publisher(0); run Publisher(1);
#ifndef NO_QUERIES
    run Query(0);
#if QUERIES > 1
    run Query(1);
#endif
#endif
#ifndef NO_SETTLING
    run Settling()
#endif
  }
}
