import { ROOT } from '../../host/n8n/paths';
import { messageOf, say } from '../../host/n8n/terminal';
import { setIdentity } from './identity';

setIdentity(process.argv.slice(2), ROOT).catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
