import { buildRouteMap } from '@stricli/core';
import { attackCommand } from './attack.ts';
import { completionCommand } from './completion.ts';
import { detectCommand } from './detect.ts';
import { doctorCommand } from './doctor.ts';
import { explainCommand } from './explain.ts';
import { inboxRoutes } from './inbox.ts';
import { keysRoutes } from './keys.ts';
import { listenCommand } from './listen.ts';
import { messengerRoutes } from './messenger.ts';
import { onboardCommand } from './onboard.ts';
import { orderRoutes } from './order.ts';
import { pinCommand } from './pin.ts';
import { probeCommand } from './probe.ts';
import { replayCommand } from './replay.ts';
import { sandboxCommand } from './sandbox.ts';
import { sendCommand } from './send.ts';
import { signCommand } from './sign.ts';
import { triggerCommand } from './trigger.ts';
import { verifyCommand } from './verify.ts';
import { whitelistIpCommand } from './whitelist-ip.ts';

/** Every command. A new one is a file here, which says how it is called, and one in `commands`, which does it. */
export const routes = buildRouteMap({
  routes: {
    doctor: doctorCommand,
    onboard: onboardCommand,
    'whitelist-ip': whitelistIpCommand,
    inbox: inboxRoutes,
    keys: keysRoutes,
    order: orderRoutes,
    messenger: messengerRoutes,
    send: sendCommand,
    sandbox: sandboxCommand,
    listen: listenCommand,
    trigger: triggerCommand,
    replay: replayCommand,
    attack: attackCommand,
    sign: signCommand,
    verify: verifyCommand,
    detect: detectCommand,
    explain: explainCommand,
    probe: probeCommand,
    pin: pinCommand,
    completion: completionCommand,
  },
  docs: {
    brief: 'Work with a partner exchange and its messenger service.',
  },
});
