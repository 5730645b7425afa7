import { randomBytes } from 'node:crypto';
import { freshHash, seedCatalog } from './catalog';
import type { CreatedOffer, Offer, Product, StoredTransaction } from './types';

export interface SoldOffer {
	offer: Offer;
	product: Product;
	/** Numeric identifier of the product, shown only by transaction items. */
	productId: number;
}

// Chance, not a seed: an n8n that outlives a sandbox must not meet the same hash as a new charge.
const chance = (): number => randomBytes(4).readUInt32BE() / 4294967296;

/** Everything the service knows. */
export class SandboxState {
	products: Product[] = [];
	createdOffers: CreatedOffer[] = [];
	/** Oldest first. */
	transactions: StoredTransaction[] = [];
	/** Grows with every change of the catalog, so that what was derived from it can be dropped. */
	catalogVersion = 0;

	private productIndex = new Map<string, number>();
	private offerIndex = new Map<string, { offer: Offer; productIndex: number }>();
	private transactionIndex = new Map<string, StoredTransaction>();
	private hashes = new Set<string>();
	private nextId = 48_213;
	private readonly seeded: readonly Product[];

	constructor(productCount: number) {
		this.seeded = seedCatalog(productCount);
		this.reset();
	}

	reset(): void {
		this.products = this.seeded.map((product) => ({
			...product,
			offers: product.offers.map((offer) => ({ ...offer })),
		}));
		this.createdOffers = [];
		this.transactions = [];
		this.productIndex = new Map();
		this.offerIndex = new Map();
		this.transactionIndex = new Map();
		this.hashes = new Set();
		this.catalogVersion += 1;
		this.products.forEach((product, index) => {
			this.productIndex.set(product.hash, index);
			this.hashes.add(product.hash);
			for (const offer of product.offers) this.indexOffer(offer, index);
		});
	}

	product(hash: string): Product | undefined {
		const index = this.productIndex.get(hash);
		return index === undefined ? undefined : this.products[index];
	}

	soldOffer(hash: string): SoldOffer | undefined {
		const found = this.offerIndex.get(hash);
		const product = found && this.products[found.productIndex];
		if (!found || !product) return undefined;
		return { offer: found.offer, product, productId: 1001 + found.productIndex };
	}

	transaction(hash: string): StoredTransaction | undefined {
		return this.transactionIndex.get(hash);
	}

	addOffer(product: Product, offer: Offer, request: Record<string, unknown>): void {
		const index = this.productIndex.get(product.hash);
		if (index === undefined) return;
		product.offers.push(offer);
		this.indexOffer(offer, index);
		this.createdOffers.push({ product_hash: product.hash, offer, request });
		this.catalogVersion += 1;
	}

	addTransaction(transaction: StoredTransaction): void {
		this.transactions.push(transaction);
		this.transactionIndex.set(transaction.hash, transaction);
	}

	newHash(): string {
		return freshHash(chance, 10, this.hashes);
	}

	newId(): number {
		this.nextId += 1;
		return this.nextId;
	}

	/** How many transactions callers really created, refused ones included. */
	charges(): number {
		return this.transactions.filter((transaction) => !transaction.sample).length;
	}

	private indexOffer(offer: Offer, productIndex: number): void {
		this.offerIndex.set(offer.hash, { offer, productIndex });
		this.hashes.add(offer.hash);
	}
}
