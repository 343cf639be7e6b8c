// The words that scenario files use for every choice: one table for the reader and for the writer of resolved
// scenarios.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "models/network/packet/spec.hpp"
#include "models/network/spec.hpp"
#include "models/network/study/pattern.hpp"
#include "models/workload/spec.hpp"
#include "runtime/moe/policy_spec.hpp"
#include "runtime/scheduler/place.hpp"
#include "topology/ecmp_hash.hpp"
#include "topology/spec.hpp"

namespace rehearse {

template <class E>
using Words = std::initializer_list<std::pair<std::string_view, E>>;

inline const Words<FabricKind> fabric_kind_words{
    {"clos", FabricKind::clos}, {"rail_only", FabricKind::rail_only}, {"fat_tree", FabricKind::fat_tree}};
inline const Words<PlacementPolicy> placement_words{{"packed", PlacementPolicy::packed},
                                                    {"rail_aligned", PlacementPolicy::rail_aligned},
                                                    {"spread", PlacementPolicy::spread},
                                                    {"random", PlacementPolicy::random},
                                                    {"topology_aware", PlacementPolicy::topology_aware}};
inline const Words<Dimension> dimension_words{{"tensor", Dimension::tensor},
                                              {"context", Dimension::context},
                                              {"data", Dimension::data},
                                              {"pipeline", Dimension::pipeline}};
inline const Words<ModelKind> model_kind_words{{"gpt", ModelKind::gpt}, {"moe", ModelKind::moe}};
inline const Words<AttentionCut> attention_cut_words{{"heads", AttentionCut::heads},
                                                     {"sequence", AttentionCut::sequence}};
inline const Words<TrainingPrecision> precision_words{{"bf16", TrainingPrecision::bf16},
                                                      {"fp8", TrainingPrecision::fp8}};
inline const Words<ExchangeChoice> exchange_words{
    {"fastest", ExchangeChoice::fastest},           {"direct", ExchangeChoice::direct},
    {"gather", ExchangeChoice::gather},             {"hierarchical", ExchangeChoice::hierarchical},
    {"ring", ExchangeChoice::ring},                 {"tree", ExchangeChoice::tree}};
inline const Words<RoutingKind> routing_kind_words{{"balanced", RoutingKind::balanced},
                                                   {"uniform", RoutingKind::uniform},
                                                   {"zipf", RoutingKind::zipf},
                                                   {"dirichlet", RoutingKind::dirichlet},
                                                   {"skew", RoutingKind::skew},
                                                   {"recorded", RoutingKind::recorded}};
inline const Words<CapacityScope> capacity_scope_words{{"expert", CapacityScope::expert}, {"gpu", CapacityScope::gpu}};
inline const Words<CalibratorKind> calibrator_words{{"none", CalibratorKind::none},
                                                    {"load_aware", CalibratorKind::load_aware},
                                                    {"sign_bias", CalibratorKind::sign_bias}};
inline const Words<PipelineSchedule> schedule_words{{"one_f_one_b", PipelineSchedule::one_f_one_b},
                                                    {"dual_pipe", PipelineSchedule::dual_pipe}};
inline const Words<Recompute> recompute_words{
    {"none", Recompute::none}, {"selective", Recompute::selective}, {"full", Recompute::full}};
inline const Words<OperatorSet> operator_set_words{
    {"unfused", OperatorSet::unfused}, {"fused", OperatorSet::fused}, {"efficient", OperatorSet::efficient}};
inline const Words<Fidelity> fidelity_words{
    {"ideal", Fidelity::ideal}, {"flow", Fidelity::flow}, {"packet", Fidelity::packet}};
inline const Words<FlowControl> flow_control_words{{"pfc", FlowControl::pfc}, {"cbfc", FlowControl::cbfc}};
inline const Words<Framing> framing_words{{"rocev2-ipv4", Framing::rocev2_ipv4},
                                          {"rocev2-ipv4-send", Framing::rocev2_ipv4_send},
                                          {"rocev2-ipv4-vlan", Framing::rocev2_ipv4_vlan},
                                          {"rocev2-ipv4-vlan-send", Framing::rocev2_ipv4_vlan_send},
                                          {"rocev2-ipv6", Framing::rocev2_ipv6},
                                          {"rocev2-ipv6-send", Framing::rocev2_ipv6_send},
                                          {"rocev2-ipv6-vlan", Framing::rocev2_ipv6_vlan},
                                          {"rocev2-ipv6-vlan-send", Framing::rocev2_ipv6_vlan_send},
                                          {"oefh", Framing::oefh},
                                          {"oefh-bth", Framing::oefh_bth},
                                          {"oefh-bare", Framing::oefh_bare},
                                          {"esun", Framing::esun},
                                          {"aifh", Framing::aifh},
                                          {"tomahawk-ultra", Framing::tomahawk_ultra},
                                          {"fixed_64", Framing::fixed_64},
                                          {"none", Framing::none}};
inline const Words<HashFunction> hash_words{{"crc16", HashFunction::crc16},
                                            {"crc32", HashFunction::crc32},
                                            {"xor_fold", HashFunction::xor_fold},
                                            {"jenkins", HashFunction::jenkins},
                                            {"d_mod_k", HashFunction::d_mod_k}};
inline const Words<HashSeedScope> hash_seed_scope_words{{"per_fabric", HashSeedScope::per_fabric},
                                                        {"per_role", HashSeedScope::per_role},
                                                        {"per_switch", HashSeedScope::per_switch}};
inline const Words<HashWindow> hash_window_words{{"fixed", HashWindow::fixed}, {"per_tier", HashWindow::per_tier}};

// Packet fidelity.
inline const Words<LossRecovery> loss_recovery_words{{"go_back_n", LossRecovery::go_back_n},
                                                     {"selective_repeat", LossRecovery::selective_repeat}};
inline const Words<PathChoice> path_choice_words{
    {"ecmp", PathChoice::ecmp}, {"spray", PathChoice::spray}, {"flowlet", PathChoice::flowlet}};
inline const Words<Switching> switching_words{{"store_and_forward", Switching::store_and_forward},
                                              {"cut_through", Switching::cut_through}};
inline const Words<HeadroomSet> headroom_set_words{{"formula", HeadroomSet::formula},
                                                   {"sonic_th5", HeadroomSet::sonic_th5},
                                                   {"sonic_th6", HeadroomSet::sonic_th6}};
inline const Words<FastForwardMode> fast_forward_words{
    {"off", FastForwardMode::off}, {"on", FastForwardMode::on}, {"check", FastForwardMode::check}};
inline const Words<QueueDiscipline> queue_discipline_words{{"fifo", QueueDiscipline::fifo},
                                                           {"fair", QueueDiscipline::fair}};
inline const Words<CongestionControl> congestion_words{{"none", CongestionControl::none},
                                                       {"dcqcn", CongestionControl::dcqcn},
                                                       {"swift", CongestionControl::swift},
                                                       {"megascale", CongestionControl::megascale},
                                                       {"hpcc", CongestionControl::hpcc}};
inline const Words<DcqcnSet> dcqcn_words{{"paper", DcqcnSet::paper},
                                         {"hpcc_repository", DcqcnSet::hpcc_repository},
                                         {"connectx", DcqcnSet::connectx}};
inline const Words<LlrFlush> llr_flush_words{{"discard", LlrFlush::discard}, {"best_effort", LlrFlush::best_effort}};
inline const Words<FecCode> fec_words{{"rs_544_514", FecCode::rs_544_514},
                                      {"rs_528_514", FecCode::rs_528_514},
                                      {"rs_272_258", FecCode::rs_272_258}};
inline const Words<FabricFaultKind> fabric_fault_words{{"down", FabricFaultKind::down},
                                                       {"flap", FabricFaultKind::flap},
                                                       {"slow", FabricFaultKind::slow},
                                                       {"lossy", FabricFaultKind::lossy},
                                                       {"dead_switch", FabricFaultKind::dead_switch},
                                                       {"pause_storm", FabricFaultKind::pause_storm}};
inline const Words<DetectionMode> detection_words{{"app_timeout", DetectionMode::app_timeout},
                                                  {"bfd_software", DetectionMode::bfd_software},
                                                  {"link_down_software", DetectionMode::link_down_software},
                                                  {"asic_local", DetectionMode::asic_local},
                                                  {"switch_event", DetectionMode::switch_event}};
inline const Words<Pattern> pattern_words{{"permutation", Pattern::permutation},
                                          {"incast", Pattern::incast},
                                          {"all_to_all", Pattern::all_to_all},
                                          {"ring_all_reduce", Pattern::ring_all_reduce},
                                          {"tree", Pattern::tree_all_reduce},
                                          {"trace", Pattern::trace}};

// A switch chip by name: what `cluster.fabric.switch` stands for.
struct SwitchChip {
    std::string_view name;
    std::int64_t ports;
    Bandwidth port_rate;
};
// Broadcom product briefs: Tomahawk 3 (12.8 Tb/s), Tomahawk 4 (25.6 Tb/s), Tomahawk 5 (51.2 Tb/s).
inline constexpr std::array switch_chips{SwitchChip{"tomahawk-3", 32, gigabits_per_second(400)},
                                         SwitchChip{"tomahawk-4", 64, gigabits_per_second(400)},
                                         SwitchChip{"tomahawk-5", 64, gigabits_per_second(800)}};

// The word for a value. Every value of the enum has one.
template <class E>
std::string_view word_for(const Words<E>& words, E value) {
    for (const auto& [word, meaning] : words) {
        if (meaning == value) return word;
    }
    return "";
}

}  // namespace rehearse
