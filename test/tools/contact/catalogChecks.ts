import type { IDataObject } from 'n8n-workflow';
import { searchKey } from '../../../nodes/DigitalSales/domain/searchText';
import { hashInAddress } from '../../../nodes/DigitalSales/domain/pageAddress';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { confirmed, contradicted, together, untold, type Evidence, type Finding } from './finding';
import { isAnswered, isSuccess } from './service';
import { LARGE_PAGE, type Filtered, type Listed } from './survey';

const EMPTY = 'the catalog gives no occasion to ask';

/** Whether each query parameter changes the answer as it should. */
export function queryNames(evidence: Evidence): Finding {
	const { products, single, second, search, status, categories } = evidence;
	const parts: Finding[] = [];
	const judge = (
		name: string,
		asked: Listed | undefined,
		isRight: (hashes: string[]) => boolean,
	) => {
		if (asked) parts.push(judgeQuery(evidence, name, asked, isRight));
	};
	if (products.length > 1) judge('per_page', single, (hashes) => hashes.length === 1);
	judge('page', second, () => true);
	judge('search', search, (hashes) => hashes.includes(search?.asked.hash ?? ''));
	judge('status', status, () => allOf(status, (product) => product.status));
	judge('categories', categories, () => foundCategories(categories));
	return together([...parts, pageNameInLinks(evidence.list)], EMPTY);
}

function judgeQuery(
	{ list }: Evidence,
	name: string,
	asked: Listed,
	isRight: (hashes: string[]) => boolean,
): Finding {
	const hashes = hashesOf(asked);
	if (!isAnswered(asked.answer)) return untold(`${name} is answered with ${statusOf(asked)}`);
	if (!asked.page || !hashes) return contradicted(`${name} is answered with ${statusOf(asked)}`);
	if (String(hashes) === String(hashesOf(list))) return contradicted(`${name} changes nothing`);
	return isRight(hashes)
		? confirmed(`${name} changes the answer as it should`)
		: contradicted(`${name} changes the answer, but not to the products asked for`);
}

/** Whether all products that were found have a value that was asked for. */
function allOf<T>(
	found: Filtered<T> | undefined,
	valueOf: (product: IDataObject) => unknown,
): boolean {
	const asked: unknown[] = [found?.asked].flat();
	return found?.page?.data.every((product) => asked.includes(Number(valueOf(product)))) ?? false;
}

function foundCategories(found: Evidence['categories']): boolean {
	const categoryOf = (product: IDataObject): number => Number(product.id_category);
	const seen = new Set(found?.page?.data.map(categoryOf));
	return allOf(found, categoryOf) && (found?.asked.every((id) => seen.has(id)) ?? false);
}

/** The links of a page show what the service calls its page number. */
function pageNameInLinks({ answer, page }: Listed): Finding {
	const links = page && isJsonObject(answer.json) ? answer.json.links : undefined;
	const link = isJsonObject(links) ? (links.next ?? links.last) : undefined;
	if (typeof link !== 'string' || !URL.canParse(link)) return untold(EMPTY);
	const names = [...new URL(link).searchParams.keys()];
	return names.length === 0 || names.includes('page')
		? untold('the links use page')
		: contradicted(`the links of a page use ${names.join(', ')} and not page`);
}

/** What the service sends if it is asked for the largest page that the package asks for. */
export function pageSize({ list, large }: Evidence): Finding {
	if (!large) return untold(EMPTY);
	const { answer, page } = large;
	const byDefault = `${list.page?.data.length ?? 0} products came without a size`;
	if (answer.status === 400 || answer.status === 422) {
		return confirmed(`a size of ${LARGE_PAGE} is refused (${answer.status}); ${byDefault}`);
	}
	if (!isAnswered(answer))
		return untold(`a size of ${LARGE_PAGE} is answered with ${statusOf(large)}`);
	if (!page) return contradicted(`a size of ${LARGE_PAGE} is answered with ${statusOf(large)}`);
	const { data, perPage, total } = page;
	const granted = Math.min(perPage ?? Infinity, total ?? Infinity, LARGE_PAGE);
	if (data.length > LARGE_PAGE || (Number.isFinite(perPage) && data.length !== granted)) {
		return contradicted(
			`the service states ${perPage} a page and ${total} in all, and sent ${data.length} for a size of ${LARGE_PAGE}`,
		);
	}
	const isWhole = total !== undefined && data.length >= total;
	return confirmed(
		`of ${LARGE_PAGE} asked for, ${data.length} came${isWhole ? ', the whole catalog' : ''}${perPage === undefined ? '' : `; per_page says ${perPage}`}; ${byDefault}`,
	);
}

/** Whether "cafe" finds "Café". */
export function accents({ search, plainSearch, ...evidence }: Evidence): Finding {
	if (!search || !plainSearch) return untold('no title has accents');
	if (judgeQuery(evidence, 'search', search, () => true).verdict !== 'confirmed') {
		return untold('search changes nothing');
	}
	const finds = ({ page, asked }: typeof search): boolean =>
		page?.data.some(({ title }) => searchKey(String(title)).includes(searchKey(asked.word))) ??
		false;
	if (!finds(search))
		return contradicted('a word with accents in the composed form (NFC) is not found');
	return finds(plainSearch)
		? confirmed('a word with accents is found in the composed form, and without its accents')
		: contradicted('a word with accents is found only with its accents');
}

/** Whether pages end with the hash of what they sell. */
export function pageAddresses({ products }: Evidence): Finding {
	const offers = products.flatMap(offersOf);
	return together(
		[
			lastSegments('checkout pages', offers, 'url'),
			lastSegments('sales pages', products, 'sale_page'),
		],
		EMPTY,
	);
}

function lastSegments(what: string, sold: IDataObject[], name: string): Finding {
	const withPage = sold.filter((entry) => typeof entry[name] === 'string' && entry[name] !== '');
	const ending = withPage.filter(
		(entry) => hashInAddress(String(entry[name])) === String(entry.hash),
	);
	if (withPage.length === 0) return untold(`no ${what} in the catalog`);
	const text = `${ending.length} of ${withPage.length} ${what} end with the hash`;
	return ending.length === withPage.length ? confirmed(text) : contradicted(text);
}

export function offersOf({ offers }: IDataObject): IDataObject[] {
	return Array.isArray(offers) ? offers.filter(isJsonObject) : [];
}

function hashesOf({ page }: Listed): string[] | undefined {
	return page?.data.map(({ hash }) => String(hash));
}

function statusOf({ answer }: Listed): string {
	return isSuccess(answer) ? 'something that is no list of products' : String(answer.status);
}
