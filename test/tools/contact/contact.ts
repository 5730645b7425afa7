import { writeFileSync } from 'node:fs';
import type { IDataObject } from 'n8n-workflow';
import { readTransaction } from '../../../nodes/DigitalSales/api/schemas/transaction';
import { hashSegment } from '../../../nodes/DigitalSales/domain/hash';
import { readNotice } from '../../../nodes/DigitalSales/notice/parse';
import { offersOf } from './catalogChecks';
import { CHECKS } from './checks';
import { type Created, type Evidence, type Gathered, readBothCases, survey } from './finding';
import { listen, type Listener } from './listen';
import { createShown } from './documented';
import { report, whereToChange } from './report';
import { isSuccess, Service, type Clock } from './service';
import { EXIT, readSettings, Refusal, USAGE, type Settings } from './settings';

export interface Outside {
	args: string[];
	environment: Record<string, string | undefined>;
	say: (text: string) => void;
	clock: Clock;
	/** Begins when --listen waits, and ends the waiting. */
	enough: () => AbortSignal;
}

/** Runs the command and gives its exit code; a refusal is said in one sentence. */
export async function contact(outside: Outside): Promise<number> {
	try {
		const settings = readSettings(outside.args, outside.environment);
		if (settings) return await meet(settings, outside);
		outside.say(USAGE);
		return EXIT.nothingContradicted;
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		outside.say(error.message);
		return error.exit;
	}
}

async function meet(settings: Settings, outside: Outside): Promise<number> {
	const listener = settings.listen && (await listenAt(settings.listen));
	try {
		const gathered = await gather(settings, listener, outside);
		const { service, heard, unknownHash } = gathered;
		const shown = createShown(settings.redact, [
			...service.answers.map(({ json }) => json),
			heard?.notice?.content,
			settings.customer,
			{ hash: [...settings.hashes, settings.offerFor, unknownHash.hash] },
		]);
		const evidence: Evidence = { ...gathered, shown };
		const checked = CHECKS.map((check) => ({ ...check, ...check.read(evidence) }));
		const text = report(checked, evidence, whereToChange());
		outside.say(text);
		if (settings.report !== undefined) write(settings.report, text);
		return checked.some(({ verdict }) => verdict === 'contradicted')
			? EXIT.contradicted
			: EXIT.nothingContradicted;
	} finally {
		await listener?.close();
	}
}

function write(file: string, text: string): void {
	try {
		writeFileSync(file, `${text}\n`);
	} catch {
		throw new Refusal(EXIT.settings, 'The report cannot be written into the file of --report.');
	}
}

async function listenAt(address: { host: string; port: number }): Promise<Listener> {
	return await listen(address).catch(() => {
		throw new Refusal(EXIT.settings, 'Nothing can listen at the address of --listen.');
	});
}

/** Asks the service, and creates what the arguments ask for. */
async function gather(
	settings: Settings,
	listener: Listener | undefined,
	{ clock, say, enough }: Outside,
): Promise<Gathered> {
	const { baseUrl, token, hashes, redact } = settings;
	const service = new Service({ baseUrl, token, clock, redact, say });
	const evidence: Gathered = {
		...(await survey(service)),
		service,
		transactions: [],
		hasSecondToken: settings.secondToken !== undefined,
	};
	const read = async (hash: string, isOwn = false): Promise<void> => {
		if (evidence.transactions.some((known) => known.hash === hash)) return;
		evidence.transactions.push(await readBothCases(service, hash, isOwn));
	};
	for (const hash of hashes) await read(hash);
	if (settings.charge) {
		evidence.charge = await charge(service, settings, evidence.products);
		const answer = evidence.charge === 'none' ? undefined : evidence.charge.answer;
		const charged = answer && isSuccess(answer) ? readTransaction(answer.json) : undefined;
		if (charged) await read(charged.hash, true);
	}
	if (settings.offerFor !== undefined) {
		evidence.offer = await createOffer(service, settings.offerFor, evidence.products);
	}
	if (listener) {
		say(`Waiting for one webhook on port ${listener.port}. Ctrl+C ends the waiting.`);
		evidence.heard = await listener.first({
			isAwaited: ({ body, text }) =>
				readNotice(body) !== undefined ||
				evidence.transactions.some(({ hash }) => text.includes(hash)),
			onOther: () => say('A request without a hash came. Still waiting.'),
			enough: enough(),
		});
		const notice = readNotice(evidence.heard.notice?.body);
		if (notice) await read(notice.hash);
	}
	return evidence;
}

/** Charges the cheapest active offer that was read, at its own price. */
async function charge(
	service: Service,
	{ token, secondToken, customer, notify }: Settings,
	products: IDataObject[],
): Promise<Created | 'none'> {
	const offers = products.filter(({ status }) => status === 1).flatMap(offersOf);
	const priced = offers.filter(
		({ price, interval }) => typeof price === 'number' && price > 0 && interval == null,
	);
	const [cheapest] = priced.sort((one, other) => Number(one.price) - Number(other.price));
	if (!cheapest) return 'none';
	const { hash, price } = cheapest;
	const body = {
		api_token: secondToken ?? token,
		amount: price,
		payment_method: 'pix',
		cart: [{ offer_hash: hash, price, quantity: 1, operation_type: 1, title: 'First contact' }],
		installments: 1,
		customer,
		...(notify !== undefined && { webhook_url: notify }),
	};
	return { body, answer: await service.post('POST /transactions', '/transactions', body) };
}

const OFFER_PRICE_CENTS = 1_000;

async function createOffer(
	service: Service,
	productHash: string,
	products: IDataObject[],
): Promise<Created> {
	const product = products.find(({ hash }) => String(hash) === productHash);
	const recurring = product && offersOf(product).find(({ interval }) => interval != null);
	const body = {
		title: 'First contact',
		price: OFFER_PRICE_CENTS,
		payment_methods: [3],
		method_default: 3,
		affiliates_visible: false,
		...(recurring && { interval: recurring.interval }),
	};
	const path = `/products/${hashSegment(productHash)}/offers`;
	return { body, answer: await service.post('POST /products/{hash}/offers', path, body) };
}
