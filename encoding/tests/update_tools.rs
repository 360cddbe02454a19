//! Merging, diffing, converting and state vectors of updates: bytes compared with what real Yjs made.

mod common;

use common::{golden, hex, text, unhex};
use yatta_encoding::update::{
    convert_v1_to_v2, convert_v2_to_v1, diff_updates_v1, diff_updates_v2, encode_state_vector_from_update_v1,
    encode_state_vector_from_update_v2, merge_updates_v1, merge_updates_v2,
};

fn list(json: &serde_json::Value, key: &str) -> Vec<Vec<u8>> {
    json[key].as_array().expect(key).iter().map(|text| unhex(text.as_str().expect(key))).collect()
}

#[test]
fn as_yjs_does() {
    let file = golden("vectors/update-tools.json");
    let cases = file["cases"].as_array().unwrap();
    assert!(cases.len() >= 100);
    for (n, case) in cases.iter().enumerate() {
        let (inputs, inputs_v2) = (list(case, "inputs"), list(case, "inputsV2"));
        for (v1, v2) in inputs.iter().zip(&inputs_v2) {
            assert_eq!(hex(&convert_v1_to_v2(v1).unwrap()), hex(v2), "case {n}");
        }
        for (v1, state) in inputs.iter().zip(list(case, "statesOfInputs")) {
            assert_eq!(hex(&encode_state_vector_from_update_v1(v1).unwrap()), hex(&state), "case {n}");
        }
        assert_eq!(hex(&merge_updates_v1(&inputs).unwrap()), text(case, "merged"), "case {n}");
        assert_eq!(hex(&merge_updates_v2(&inputs_v2).unwrap()), text(case, "mergedV2"), "case {n}");
        let pair = [inputs.first().unwrap(), inputs.last().unwrap()];
        assert_eq!(hex(&merge_updates_v1(&pair).unwrap()), text(case, "pair"), "case {n}");
        let (merged, merged_v2) = (unhex(text(case, "merged")), unhex(text(case, "mergedV2")));
        assert_eq!(hex(&convert_v1_to_v2(&merged).unwrap()), text(case, "mergedAsV2"), "case {n}");
        assert_eq!(hex(&convert_v2_to_v1(&merged_v2).unwrap()), text(case, "mergedAsV1"), "case {n}");
        let state = unhex(text(case, "state"));
        assert_eq!(hex(&diff_updates_v1(&merged, &state).unwrap()), text(case, "diff"), "case {n}");
        assert_eq!(hex(&diff_updates_v2(&merged_v2, &state).unwrap()), text(case, "diffV2"), "case {n}");
        let of_merged = encode_state_vector_from_update_v1(&merged).unwrap();
        assert_eq!(hex(&of_merged), text(case, "stateOfMerged"), "case {n}");
        let of_merged = encode_state_vector_from_update_v2(&merged_v2).unwrap();
        assert_eq!(hex(&of_merged), text(case, "stateOfMergedV2"), "case {n}");
    }
}

#[test]
fn conversions_of_all_vectors() {
    let vectors = golden("vectors/yjs-vectors.json");
    let tools = golden("vectors/update-tools.json");
    let mut count = 0;
    for converted in tools["converted"].as_array().unwrap() {
        let name = text(converted, "name");
        let vector = vectors["vectors"].as_array().unwrap().iter().find(|v| v["name"] == name).unwrap();
        let to_v2 = convert_v1_to_v2(&unhex(text(vector, "v1"))).expect(name);
        assert_eq!(hex(&to_v2), text(converted, "v1ToV2"), "{name}");
        let to_v1 = convert_v2_to_v1(&unhex(text(vector, "v2"))).expect(name);
        assert_eq!(hex(&to_v1), text(converted, "v2ToV1"), "{name}");
        count += 1;
    }
    assert_eq!(count, 55);
}

#[test]
fn a_single_update_and_none() {
    // Not even read: trailing bytes stay.
    assert_eq!(merge_updates_v1(&[[0, 0, 9]]).unwrap(), [0, 0, 9]);
    let none: [&[u8]; 0] = [];
    assert_eq!(merge_updates_v1(&none).unwrap(), [0, 0]);
    assert_eq!(hex(&merge_updates_v2(&none).unwrap()), "00000000000001000000000000");
}

#[test]
fn a_section_of_a_higher_client_after_a_lower_one_is_not_lost() {
    // Clients in ascending order, as no Yjs writes them: "a" of client 1, "b" of client 2.
    let odd = unhex("02010100040101740161010200040101740162 00".replace(' ', "").as_str());
    let merged = merge_updates_v1(&[&odd[..], &[0, 0]]).unwrap();
    let state = encode_state_vector_from_update_v1(&merged).unwrap();
    // Yjs would lose the second here; the merge brings sections into the order of the wire, clients descending.
    assert_eq!(hex(&state), "0202010101");
}

#[test]
fn merging_many_small_updates_is_linear() {
    let updates = |count: u32| -> Vec<Vec<u8>> {
        (0..count)
            .map(|n| {
                let mut update = vec![1, 1, 1];
                yatta_encoding::Write::write_var(&mut update, n);
                if n == 0 {
                    update.extend([4, 1, 1, b't']);
                } else {
                    update.extend([0x84, 1]);
                    yatta_encoding::Write::write_var(&mut update, n - 1);
                }
                update.extend([1, b'x', 0]);
                update
            })
            .collect()
    };
    let mut shuffled = updates(20_000);
    let sorted = shuffled.clone();
    shuffled.reverse();
    assert_eq!(merge_updates_v1(&shuffled).unwrap(), merge_updates_v1(&sorted).unwrap());
    // 200,000 take some 10 ms. If each looked at all others, that would be 40 billion looks.
    let many = updates(200_000);
    let many_v2: Vec<_> = many.iter().map(|update| convert_v1_to_v2(update).unwrap()).collect();
    let start = std::time::Instant::now();
    let merged = merge_updates_v1(&many).unwrap();
    assert_eq!(convert_v1_to_v2(&merged).unwrap(), merge_updates_v2(&many_v2).unwrap());
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn a_diff_cuts_text_inside_of_a_pair() {
    // "a", U+1F600, "b" of client 1, and what Yjs sends to a peer that knows two units of it.
    let whole = unhex("01010100040104746578740661f09f98806200");
    let diff = diff_updates_v1(&whole, &[1, 1, 2]).unwrap();
    assert_eq!(hex(&diff), "0101010284010104efbfbd6200");
    let diff = diff_updates_v2(&convert_v1_to_v2(&whole).unwrap(), &[1, 1, 2]).unwrap();
    assert_eq!(hex(&diff), "000002410001020001840604efbfbd620200000001010200");
    for (known, text) in [(1, "f09f988062"), (3, "62")] {
        let diff = hex(&diff_updates_v1(&whole, &[1, 1, known]).unwrap());
        assert!(diff.ends_with(&format!("{text}00")), "{diff}");
    }
    // All is known: only the delete set is left.
    assert_eq!(diff_updates_v1(&whole, &[1, 1, 4]).unwrap(), [0, 0]);
}
