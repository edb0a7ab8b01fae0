import { faultsAt } from './fault-rates.ts';

/** Every fault that an honest network and a careless service can cause, each now and then. */
export const hostileFaults = [
  ...faultsAt('request', {
    reset: 0.05,
    reply_lost: 0.05,
    truncate: 0.03,
    trickle: 0.02,
    too_many_requests: 0.05,
    server_error: 0.05,
    html: 0.03,
    redirect: 0.02,
    misdirected: 0.03,
    wrong_content_type: 0.05,
    gzip: 0.05,
  }),
  ...faultsAt('event', {
    duplicate: 0.15,
    concurrent_duplicate: 0.1,
    reorder: 0.15,
    delay: 0.1,
    before_reply: 0.2,
    forged: 0.1,
    tampered: 0.1,
    unfamiliar_name: 0.1,
    extra_members: 0.2,
    awkward_spelling: 0.3,
  }),
];
