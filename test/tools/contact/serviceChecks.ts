import { readServiceWords } from '../../../nodes/DigitalSales/api/schemas/error';
import { readResource } from '../../../nodes/DigitalSales/api/schemas/lenient';
import { readRateLimitHeaders, retryAfterMs } from '../../../nodes/DigitalSales/api/response';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { BODY_FIELDS, differences, type Differences, DOCUMENTED } from './documented';
import {
	confirmed,
	contradicted,
	type Created,
	type Evidence,
	type Finding,
	together,
	untold,
} from './finding';
import {
	DOCUMENTED_LIMIT,
	isAnswered,
	isSuccess,
	statedLimit,
	statusOf,
	type Answer,
} from './service';

/** More than the documented minute, if the clocks differ a little. */
const LATEST_RESET_MS = 90_000;
const NOT_ASKED = 'only --charge or --offer can tell';

/** Whether each object has the documented shape; the fields beyond it are another row. */
export function successes(evidence: Evidence): Finding {
	const { list, transactions } = evidence;
	const parts: Finding[] = [];
	if (list.page) parts.push(confirmed(`a list of products comes with ${list.answer.status}`));
	else parts.push(contradicted(`GET /products is answered with ${list.answer.status} and no list`));
	for (const { answer, transaction } of transactions) {
		if (transaction) parts.push(resourceIn('a transaction', answer));
		else if (isSuccess(answer)) {
			parts.push(
				contradicted(`a transaction is answered with ${answer.status} and cannot be read`),
			);
		}
	}
	for (const { answer } of posts(evidence)) {
		if (!isSuccess(answer)) continue;
		if (readResource(answer.json)) parts.push(resourceIn(answer.endpoint, answer));
		else
			parts.push(contradicted(`${answer.endpoint} is answered with ${answer.status} and no hash`));
	}
	const { other } = differencesIn(evidence);
	return together([...parts, ...other.map(contradicted)], NOT_ASKED);
}

function resourceIn(what: string, { status, json }: Answer): Finding {
	return confirmed(
		`${what} comes ${readResource(json) === json ? 'bare' : 'wrapped'} with ${status}`,
	);
}

/** How everything that was read differs from the document. */
export function differencesIn(evidence: Evidence): Differences {
	const { products, transactions, charge, offer, shown } = evidence;
	const created = (post: Evidence['charge']): unknown =>
		post && post !== 'none' && isSuccess(post.answer) ? readResource(post.answer.json) : undefined;
	const found = [
		...products.map((product) => differences('product', DOCUMENTED.product, product, shown)),
		...transactions.flatMap(({ transaction }) =>
			transaction
				? [differences('transaction', DOCUMENTED.readTransaction, transaction.json, shown)]
				: [],
		),
		...[created(charge)].flatMap((json) =>
			json ? [differences('created transaction', DOCUMENTED.createdTransaction, json, shown)] : [],
		),
		...[created(offer)].flatMap((json) =>
			// One that does not recur was seen without its interval.
			isJsonObject(json)
				? [differences('created offer', DOCUMENTED.offer, { interval: null, ...json }, shown)]
				: [],
		),
	];
	return {
		further: [...new Set(found.flatMap(({ further }) => further))],
		other: [...new Set(found.flatMap(({ other }) => other))],
	};
}

/** Whether failures can be told from successes, and say why. */
export function failures(evidence: Evidence): Finding {
	const { unknownHash, noToken } = evidence;
	const refused = posts(evidence).filter(({ answer }) => !isSuccess(answer));
	const parts = [
		failure('a read of an unknown hash', unknownHash.answer),
		failure('a request without a token', noToken),
		...refused.map(({ answer }) => failure(answer.endpoint, answer)),
	];
	if (isAnswered(noToken) && ![401, 403].includes(noToken.status)) {
		parts.push(
			contradicted(`a request without a token is answered with ${noToken.status}, not 401 or 403`),
		);
	}
	return together(parts, NOT_ASKED);
}

function failure(what: string, answer: Answer): Finding {
	const answered = `${what} is answered with ${statusOf(answer)}`;
	if (!isAnswered(answer)) return untold(answered);
	if (isSuccess(answer)) return contradicted(`${answered} and nothing says that it failed`);
	const { messages, fields } = readServiceWords(answer.json);
	return messages.length + Object.keys(fields).length === 0
		? contradicted(`${answered} and no words that can be read`)
		: confirmed(`${answered} and words`);
}

/** Whether the service states 20 a minute where the package looks for it. */
export function accountLimit({ list, service, shown }: Evidence): Finding {
	const { limit } = readRateLimitHeaders(list.answer.headers);
	const { names } = statedLimit(list.answer.headers);
	const answers = service.answers.filter(({ endpoint }) => endpoint === 'GET /products');
	const parts: Finding[] = answers
		.filter(({ status }) => status === 429)
		.map((answer) => {
			const text = about429(answer, shown);
			return retryAfterMs(answer.headers) === undefined ? contradicted(text) : confirmed(text);
		});
	if (limit === undefined && names.length > 0) {
		const where = names.map(shown).join(', ');
		parts.push(contradicted(`the limit is stated in ${where}, which the package does not read`));
	}
	const resets = answers.flatMap(({ headers }) =>
		Object.entries(headers).flatMap(([name, reset]) =>
			/rate-?limit.*reset/.test(name) ? [retryAfterMs({ 'x-ratelimit-reset': reset }) ?? 0] : [],
		),
	);
	if (limit !== undefined) {
		const window = resets.length === 0 ? ', but not in how many seconds' : '';
		const text = `GET /products states ${limit} requests${window}`;
		parts.push(limit === DOCUMENTED_LIMIT ? confirmed(text) : contradicted(text));
	}
	if (resets.some((reset) => reset > LATEST_RESET_MS))
		parts.push(contradicted('its reset is further away than the documented 60 seconds'));
	return together(parts, 'GET /products states no limit');
}

/** Whether another endpoint has a limit, which the package learns only from a 429. */
export function otherLimits({ service, shown }: Evidence): Finding {
	const others = service.answers.filter(({ endpoint }) => endpoint !== 'GET /products');
	return together(
		others.flatMap((answer) => {
			const { limit } = statedLimit(answer.headers);
			const parts: Finding[] = [];
			if (limit !== undefined)
				parts.push(contradicted(`${answer.endpoint} states ${limit} requests`));
			if (answer.status === 429) parts.push(contradicted(about429(answer, shown)));
			return parts;
		}),
		'no other endpoint states a limit, and none answered 429',
	);
}

function about429({ endpoint, headers }: Answer, shown: Evidence['shown']): string {
	const names = Object.keys(headers).filter((name) => /^retry-after$|rate-?limit/.test(name));
	const carries =
		names.length === 0 ? 'says nothing of the limit' : `carries ${names.map(shown).join(', ')}`;
	const isTold = retryAfterMs(headers) !== undefined;
	return `a 429 of ${endpoint} ${carries}${isTold ? '' : ', so nobody knows how long to wait'}`;
}

/** Which fields the service requires beyond those that were sent. */
export function requiredFields(evidence: Evidence): Finding {
	return together(
		posts(evidence).map(({ answer }) => {
			const fields = requiredBy(answer).map(evidence.shown);
			if (fields.length > 0)
				return contradicted(`${answer.endpoint} requires ${fields.join(', ')}`);
			return isSuccess(answer)
				? confirmed(`${answer.endpoint} accepts a body without further fields`)
				: untold(`${answer.endpoint} is answered with ${statusOf(answer)}, which names no field`);
		}),
		NOT_ASKED,
	);
}

/** Whether a body needs fields that the document does not list. */
export function furtherFields(evidence: Evidence): Finding {
	const parts = posts(evidence).flatMap(({ answer }) => [
		...requiredBy(answer)
			.filter((field) => !BODY_FIELDS.has(field.replace(/\.\d+/g, '')))
			.map((field) => contradicted(`a field ${evidence.shown(field)} is required`)),
		isSuccess(answer)
			? confirmed(`${answer.endpoint} requires no undocumented field`)
			: untold(`${answer.endpoint} is answered with ${statusOf(answer)}`),
	]);
	const { charge } = evidence;
	if (charge && charge !== 'none' && isSuccess(charge.answer)) {
		const sent = charge.body.webhook_url;
		const json = readResource(charge.answer.json);
		if (json && sent !== undefined && json.postback_url !== sent) {
			parts.push(
				contradicted('the address sent as webhook_url is not the postback_url of the answer'),
			);
		}
	}
	return together(parts, NOT_ASKED);
}

function posts({ charge, offer }: Evidence): Created[] {
	return [charge, offer].filter((post) => post !== undefined && post !== 'none');
}

/** The fields that an answer says are missing. */
function requiredBy({ json }: Answer): string[] {
	const { messages, fields } = readServiceWords(json);
	const texts = [...messages, ...Object.values(fields).flat()].filter((text) =>
		/required|obrigat/i.test(text),
	);
	const keyed = Object.entries(fields).flatMap(([name, about]) =>
		about.some((text) => texts.includes(text)) ? [name] : [],
	);
	const named = texts.flatMap((text) => {
		const [, english, portuguese] = NAMED_FIELD.exec(text) ?? [];
		return english ?? portuguese ?? [];
	});
	return [...new Set([...keyed, ...named])];
}

const FIELD = /([a-z][a-z_]*(?:\.[a-z0-9_]+)*)/.source;
/** "The x.y field is required", "O campo x.y é obrigatório". */
const NAMED_FIELD = new RegExp(`\\b${FIELD} field\\b|\\bcampo ['"]?${FIELD}`);
